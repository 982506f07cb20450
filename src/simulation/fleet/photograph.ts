import type { InstanceId } from "../../domain/ids.ts";
import { ANNOTATION_EPOCH, DEPLOYER_ROLE } from "../../domain/names.ts";
import { APPLICATIONS, ROLE_BINDINGS } from "../../reconciler/adapters/kubernetes/types.ts";
import type { JsonMap } from "../../runtime/kube/testing/json.ts";
import { mapAt } from "../../runtime/kube/testing/json.ts";
import { metadataOf, nameOf } from "../../runtime/kube/testing/object-rules.ts";
import { accountName } from "../../shard/names.ts";
import { USER_DEPLOYMENTS } from "../../workspace/adapters/kubernetes/user-resources.ts";
import type { DeployedStanding, Photograph } from "../history.ts";
import { subjectsOf } from "../models/authority.ts";
import { TRACKING } from "../models/engine/application.ts";
import { CONFIG_MAPS } from "../models/engine/cluster-cache.ts";
import { annotationsOf, NAMESPACE_TYPE } from "../models/kubernetes/server.ts";
import { textAt } from "../models/kubernetes/text.ts";
import type { Fleet } from "./fleet.ts";
import { classAskedFor } from "./labels.ts";
import { pathOf } from "./users.ts";

const MOVES_LIMIT = 10_000;
const never = new AbortController().signal;

/** The present state of rows, objects and Git: everything that should agree in the end. */
export async function photograph(fleet: Fleet): Promise<Photograph> {
  const { api, instances, database } = fleet;
  const namespaces = api.objects
    .list(NAMESPACE_TYPE, "")
    .map(nameOf)
    .filter((name) => name.startsWith("team-"));
  const resources = api.objects.list(USER_DEPLOYMENTS, "");
  const [rows, units] = await rowsOf(fleet);
  const moves = await database.rows.moves.list({ isLive: true }, MOVES_LIMIT, never);
  return {
    namespaces,
    deployments: resources.map((each) => standing(fleet, each)),
    rows,
    units,
    moves: moves.map(({ id, phase, message }) => ({ id, phase, message })),
    applications: instances.flatMap((instance) =>
      fleet
        .engineOf(instance)
        .objects.list(APPLICATIONS, instance.namespace)
        .map((each) => ({
          ...{
            instance: instance.name,
            name: nameOf(each),
            epoch: epochOf(each),
            path: pathOf(each),
            isDeleting: metadataOf(each)["deletionTimestamp"] !== undefined,
          },
        })),
    ),
    ownerBindings: api.objects
      .list(ROLE_BINDINGS, "")
      .filter((each) => mapAt(each, "roleRef")["name"] === DEPLOYER_ROLE)
      .map((each) => ({ namespace: textAt(metadataOf(each), "namespace"), subjects: subjectsOf(each), epoch: epochOf(each) })),
    objects: api.objects
      .list(CONFIG_MAPS, "")
      .filter((each) => annotationsOf(each)[TRACKING] !== undefined)
      .map((each) => ({
        ...{ namespace: textAt(metadataOf(each), "namespace"), name: nameOf(each), content: textAt(mapAt(each, "data"), "content") },
        tracking: textAt(annotationsOf(each), TRACKING),
      })),
  };
}

function standing({ git }: Fleet, resource: JsonMap): DeployedStanding {
  const metadata = metadataOf(resource);
  const { deletionTimestamp, generation } = metadata;
  const status = mapAt(resource, "status");
  const conditions = Array.isArray(status["conditions"]) ? (status["conditions"] as readonly JsonMap[]) : [];
  const isReady = conditions.some((each) => each["type"] === "Ready" && each["status"] === "True");
  return {
    ...{
      namespace: textAt(metadata, "namespace"),
      name: nameOf(resource),
      uid: textAt(metadata, "uid"),
      path: pathOf(resource),
      isDeleting: deletionTimestamp !== undefined,
    },
    isReady: isReady && status["observedGeneration"] === generation,
    wanted: git.files(pathOf(resource)),
  };
}

async function rowsOf({ database, instances, api }: Fleet): Promise<[Photograph["rows"], Photograph["units"]]> {
  const { shards, placements } = database.rows;
  const rows: Photograph["rows"][number][] = [];
  const units: Photograph["units"][number][] = [];
  const asked = new Map(api.objects.list(NAMESPACE_TYPE, "").map((each) => [nameOf(each), classAskedFor(each)]));
  for (const { id, name, class: ownerClass } of instances) {
    for (const { unitId, epoch } of await shards.listOwned(id, never)) {
      const found = await placements.readUnit(unitId, never);
      if (found === undefined) continue;
      const { namespace } = found.workspace;
      const classes = { class: found.unit.class, ownerClass, askedClass: asked.get(namespace) };
      units.push({ namespace, account: accountName(unitId, id as InstanceId), epoch, ...classes });
    }
    const held = await shards.listApplications(id, never);
    for (const { application, workspace } of await shards.readApplications(
      held.map((each) => each.applicationId),
      never,
    ))
      rows.push({ uid: application.uid, argoName: application.argoName, namespace: workspace.namespace, owner: name });
  }
  return [rows, units];
}

function epochOf(object: JsonMap): number {
  return Number(annotationsOf(object)[ANNOTATION_EPOCH] ?? -1);
}
