import { contentHash } from "../../domain/hash.ts";
import { asObject, asString, type Json } from "../../domain/json.ts";
import { ANNOTATION_HASH } from "../../domain/names.ts";
import type { KubeObject, ResourceType } from "../../runtime/kube/resource.ts";
import { manifestOf, type ObjectAt } from "../../shard/managed-object.ts";
import { environmentEntryName, environmentOfServer, environmentProjectName, projectName } from "../../shard/names.ts";
import { unitOf } from "../../shard/parse-application.ts";
import { renderUnit } from "../../shard/render-unit.ts";
import type { DesiredUnit } from "../../store/shard/port.ts";
import { APPLICATIONS, ENGINE_SECRETS, PROJECTS } from "../adapters/kubernetes/types.ts";
import type { Deployed } from "./deploy.ts";
import { DESTINATION, NAMESPACES, type World } from "./world.ts";

type Raw = KubeObject & Json;

/**
 * Makes of what stands for a unit what a version with one project for each unit would have left: Applications and cluster entries name
 * that project, it permits environments too, and nothing stands for environments alone. No reconciler may run meanwhile.
 */
export async function becomeFormer(world: World, { instance, unit }: Pick<Deployed, "instance" | "unit">): Promise<void> {
  const { signal } = world;
  const { engine } = world.hands;
  const { namespace } = instance;
  const row = (await world.rows.memory.shards.readUnit(unit.id, signal)) as DesiredUnit;
  const { project } = renderUnit(
    { unit: row.unit, workspace: row.workspace, instance },
    { ...row, destination: DESTINATION, namespaces: NAMESPACES, isProjectShared: true },
  );
  const own = projectName(unit.id);
  const rewrite = async (type: ResourceType, at: ObjectAt, change: (raw: Raw) => Json, fields: readonly string[]): Promise<void> => {
    const raw = (await engine.get<Raw>(type, at, signal)) as Raw;
    const changed = change(raw);
    const annotations = {
      [ANNOTATION_HASH]: contentHash(Object.fromEntries(fields.map((field) => [field, changed[field] ?? raw[field]]))),
    };
    await engine.mergePatch(type, at, { metadata: { annotations }, ...changed }, signal);
  };
  await engine.delete(PROJECTS, { namespace, name: own }, {}, signal);
  await engine.create(PROJECTS, manifestOf(project) as unknown as KubeObject, signal);
  for (const { id } of row.environments) {
    const at = { namespace, name: environmentEntryName(id) };
    const named = Buffer.from(own).toString("base64");
    await rewrite(ENGINE_SECRETS, at, ({ data }) => ({ data: { ...asObject(data), project: named } }), ["data", "type"]);
  }
  for (const raw of (await engine.listPage<Raw>(APPLICATIONS, { namespace }, signal)).items) {
    const spec = asObject(raw["spec"]);
    if (environmentOfServer(asString(asObject(spec["destination"])["server"])) === undefined) continue;
    const at = { namespace, name: raw.metadata.name };
    await rewrite(APPLICATIONS, at, () => ({ spec: { ...spec, project: own } }), ["spec"]);
  }
  for (const { metadata } of (await engine.listPage<Raw>(ENGINE_SECRETS, { namespace }, signal)).items) {
    const isForEnvironments = metadata.labels?.["argosy.dev/unit"] === undefined && unitOf({ labels: metadata.labels ?? {} }) === unit.id;
    if (isForEnvironments) await engine.delete(ENGINE_SECRETS, { namespace, name: metadata.name }, {}, signal);
  }
  await engine.delete(PROJECTS, { namespace, name: environmentProjectName(unit.id) }, {}, signal);
}
