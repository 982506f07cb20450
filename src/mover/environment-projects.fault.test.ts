import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MoveId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { asObject, asString } from "../domain/json.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import { APPLICATIONS, ENGINE_SECRETS, PROJECTS } from "../reconciler/adapters/kubernetes/types.ts";
import { becomeFormer } from "../reconciler/testing/former-version.ts";
import { eventually } from "../reconciler/testing/until.ts";
import { type Permissions, watchPermissions } from "../reconciler/testing/watch-permissions.ts";
import { startWorld, type World } from "../reconciler/testing/world.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { environmentProjectName, projectName } from "../shard/names.ts";
import { type HandOver, startHandOver } from "./testing/hand-over.ts";

let world: World;
let over: HandOver;
let permissions: Permissions;
beforeEach(async () => {
  world = await startWorld();
  permissions = watchPermissions(world.engineServer);
  over = await startHandOver(world, { isElsewhere: true });
  // The credential comes to two projects, one after the other, whose Applications were read without it.
  await permissions.unjudged(async () => {
    await world.rows.addCredential(over.applications[1]!, "private");
    await eventually("a Secret for each project", async () => (await secretsOn(over.instances[0])).length === 2);
  });
});
afterEach(async () => {
  expect(permissions.refusals, "what Argo CD would have refused").toEqual([]);
  await world.close();
});

const names = () => ({ own: projectName(over.unitId), others: environmentProjectName(over.unitId) });
const secretsOn = async ({ namespace }: Instance) =>
  (
    await world.hands.engine.listPage<KubeObject>(
      ENGINE_SECRETS,
      { namespace, labelSelector: "argocd.argoproj.io/secret-type=repository" },
      world.signal,
    )
  ).items;
const projectsOn = async ({ namespace }: Instance): Promise<readonly string[]> =>
  (await world.hands.engine.listPage<KubeObject>(PROJECTS, { namespace }, world.signal)).items.map(({ metadata }) => metadata.name).sort();
const namedOn = async ({ namespace }: Instance): Promise<readonly string[]> =>
  (await world.hands.engine.listPage<KubeObject & { readonly spec?: unknown }>(APPLICATIONS, { namespace }, world.signal)).items.map(
    ({ spec }) => asString(asObject(spec)["project"]),
  );

async function expectHandedOver(from: Instance, to: Instance): Promise<void> {
  const { own, others } = names();
  await eventually("both projects and their Applications on the target", async () => {
    const isThere = JSON.stringify(await projectsOn(to)) === JSON.stringify([others, own].sort());
    return isThere && JSON.stringify((await namedOn(to)).toSorted()) === JSON.stringify([others, own].sort());
  });
  expect(await projectsOn(from)).toEqual([]);
  await eventually("a Secret for each project on the target", async () => (await secretsOn(to)).length === 2);
  expect(await secretsOn(from)).toEqual([]);
}

describe("a hand-over of a unit with environments", () => {
  it("takes both of its projects along, with their Secrets, and leaves none behind (I4)", async () => {
    const { id, from, to } = await over.begin();
    const worker = over.worker();
    await over.workUntilEnd(id, () => worker);
    expect(await world.rows.memory.moves.read(id, world.signal)).toMatchObject({ phase: "DONE", message: "" });
    await expectHandedOver(from, to);
  });

  it("takes one that a version before has left as it is, and gives it two on the target (I4)", async () => {
    await over.reconciler.idle();
    await over.reconciler.stop();
    const unit = (await world.rows.unit(over.unitId)) as PlacementUnit;
    await permissions.unjudged(() => becomeFormer(world, { instance: over.instances[0], unit }));
    const { id, from, to } = await over.begin();
    const worker = over.worker();
    await over.workUntilEnd(id, () => worker);
    await expectHandedOver(from, to);
  });

  it("goes on with copies that a mover of a version before has made (I5)", async () => {
    await over.reconciler.idle();
    await over.reconciler.stop();
    const { id, from, to } = await over.begin();
    await workUntilCopied(id, to);
    const unit = (await world.rows.unit(over.unitId)) as PlacementUnit;
    await permissions.unjudged(() => becomeFormer(world, { instance: to, unit }));
    const worker = over.worker();
    await over.workUntilEnd(id, () => worker);
    expect(await namedOn(to), "what the copies name when the move is over").toEqual([names().own, names().own]);
    await world.startReconciler();
    await expectHandedOver(from, to);
  });
});

/** Works with one that dies once its copies stand. */
async function workUntilCopied(id: MoveId, to: Instance): Promise<void> {
  const worker = over.worker();
  await eventually("both copies on the target", async () => {
    await worker.carryOn(id, world.signal).catch(() => undefined);
    return (await namedOn(to)).length === 2;
  });
}
