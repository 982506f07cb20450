import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { InstanceId } from "../domain/ids.ts";
import type { Application } from "../domain/workspace.ts";
import type { FakeApiServer } from "../runtime/kube/testing/fake-api-server.ts";
import { startFakeApiServer } from "../runtime/kube/testing/fake-api-server.ts";
import { APPLICATIONS } from "./adapters/kubernetes/types.ts";
import { eventually } from "./testing/until.ts";
import { startWorld, type World } from "./testing/world.ts";

/** More than may be written at once, several times over. */
const FAR_UNITS = 60;

let world: World;
let farServer: FakeApiServer;
beforeEach(async () => {
  [world, farServer] = await Promise.all([startWorld(), startFakeApiServer()]);
});
afterEach(async () => {
  await farServer.close();
  await world.close();
});

/** A reconciler with instances on two engine clusters: one unit on the near one, many on the far one, all acknowledged. */
async function twoClusters() {
  await world.startReconciler(undefined, { engineServers: { far: farServer } });
  const instances = {
    near: await world.rows.addInstance("near"),
    far: await world.rows.addInstance("far", { engineCluster: "far" }),
  };
  const deploy = async (namespace: string, instanceId: InstanceId): Promise<Application> => {
    const application = await world.rows.addApplication(namespace, "web");
    await world.rows.place(application, instanceId);
    return application;
  };
  const near = await deploy("near", instances.near.id);
  const many = await Promise.all(Array.from({ length: FAR_UNITS }, (_, index) => deploy(`far-${index}`, instances.far.id)));
  for (const application of [near, ...many]) await stands(application, 1);
  return { near, many, farNamespace: instances.far.namespace };
}

const stands = ({ id, name }: Application, revision: number) =>
  eventually(`${name} stands at ${revision}`, async () => (await world.rows.acknowledged("application", id))?.appliedRevision === revision);

describe.each([
  ["says nothing any more", () => farServer.faults.hold({ times: Number.POSITIVE_INFINITY })],
  ["breaks every connection", () => farServer.faults.breakAll()],
] as const)("an engine cluster that %s", (_, takeAway) => {
  test("does not delay another one, and holds what it should once it is back", async () => {
    const { near, many, farNamespace } = await twoClusters();
    const giveBack = takeAway();
    farServer.faults.resetWatches();
    for (const application of many) await world.rows.changeSpec(application, { type: "manual" });
    const asked = () => farServer.requests().filter(({ method }) => method === "PATCH").length;
    await eventually("the far cluster is being asked", () => asked() > 0);
    await world.rows.changeSpec(near, { type: "manual" });
    await stands(near, 2);
    for (const { id } of many) expect((await world.rows.acknowledged("application", id))?.appliedRevision).toBe(1);
    giveBack();
    for (const application of many) await stands(application, 2);
    const page = await farServer.client("hands").listPage(APPLICATIONS, { namespace: farNamespace }, world.signal);
    expect(page.items).toHaveLength(FAR_UNITS);
  });
});
