import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InstanceView } from "../src/api/schema.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { configMapFile, openWorkspace, openWorld, TYPES, until, type Workspace, type World } from "./world.ts";

const isLong = process.env["ARGOSY_LONG"] !== undefined;
const FEW = 2;
const MANY = isLong ? 100 : 6;
/** How much a workspace with one application may add to its controller's resident memory, in MiB. */
const BOUND_MIB = 3;
/** Readings after everything has settled, seconds apart; the largest counts. One is enough where nothing is compared with it. */
const READINGS = isLong ? 10 : 1;

describe("what a workspace costs its instance", () => {
  let world: World;
  let pools: PoolsWorld;
  const opened: Workspace[] = [];
  beforeAll(async () => {
    world = openWorld();
    pools = openPools(world);
    await world.git.commit("cost", { "dev/config.yaml": configMapFile("cost", {}) });
    await pools.declare(pools.withPool({ name: "cost", instances: { min: 1, max: 1 } }));
    await pools.instance("cost-1", "active", (found) => found?.state === "ACTIVE");
  });
  afterAll(async () => {
    for (const workspace of opened) await workspace.remove("app");
    for (const { namespace } of opened) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    // Deleting a hundred namespaces takes the cluster longer than the usual timeout.
    for (let left = opened.length; left > 0; ) {
      const before = left;
      left = (await until("fewer units", read, (row) => row === undefined || row.units < before))?.units ?? 0;
    }
    await pools.restore();
  });

  const read = async (): Promise<InstanceView | undefined> =>
    (await world.rest.all<InstanceView>("/v1/instances", { usage: true })).find(({ name }) => name === "cost-1");

  const open = async (from: number, to: number): Promise<void> => {
    for (let index = from; index < to; index += 1) {
      const workspace = await openWorkspace(world, `cost-${index}`);
      opened.push(workspace);
      await workspace.apply("app", { repository: "cost", path: "dev" });
    }
    for (const workspace of opened.slice(from)) await workspace.settled("app");
  };

  const memoryMib = async (): Promise<number> => {
    let largest = 0;
    for (let reading = 0; reading < READINGS; reading += 1) {
      const row = await until("the controller's memory", read, (found) => typeof found?.controllerMemoryBytes === "number");
      largest = Math.max(largest, (row?.controllerMemoryBytes ?? 0) / 2 ** 20);
    }
    return largest;
  };

  it(`is one cluster entry for all, and ${isLong ? `at most ${BOUND_MIB} MiB` : "some"} of the controller's memory for each`, async () => {
    await open(0, FEW);
    const before = await memoryMib();
    await open(FEW, MANY);
    const after = await memoryMib();
    const each = (after - before) / (MANY - FEW);
    process.stdout.write(
      `e2e: controller ${before.toFixed(0)} MiB with ${FEW} workspaces, ${after.toFixed(0)} MiB with ${MANY}: ${each.toFixed(2)} MiB each\n`,
    );
    expect(await read()).toMatchObject({ units: MANY, clusterEntries: 1, load: { applications: MANY } });
    if (isLong) expect(each).toBeLessThanOrEqual(BOUND_MIB);
  });
});
