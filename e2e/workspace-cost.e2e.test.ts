import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InstanceView } from "../src/api/schema.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { configMapFile, openWorkspace, openWorld, TYPES, until, type Workspace, type World } from "./world.ts";

const isLong = process.env["ARGOSY_LONG"] !== undefined;
const FEW = 2;
/** `boundMiB`: how much a workspace with one application may add to its controller's resident memory. */
const SHAPES = [
  { entries: "shared", pool: "cost", many: isLong ? 100 : 6, boundMiB: 3 },
  { entries: "per-workspace", pool: "cost-apart", many: isLong ? 20 : 6, boundMiB: 60 },
] as const;
/** Readings after everything has settled, seconds apart; the largest counts. One is enough where nothing is compared with it. */
const READINGS = isLong ? 10 : 1;

describe.each(SHAPES)("what a workspace costs its instance, with entries $entries", ({ entries, pool, many, boundMiB }) => {
  let world: World;
  let pools: PoolsWorld;
  const opened: Workspace[] = [];
  beforeAll(async () => {
    world = openWorld();
    pools = openPools(world);
    await world.git.commit("cost", { "dev/config.yaml": configMapFile("cost", {}) });
    await pools.declare(pools.withPool({ name: pool, instances: { min: 1, max: 1 }, entries }));
    await pools.instance(`${pool}-1`, "active", (found) => found?.state === "ACTIVE");
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
    (await world.rest.all<InstanceView>("/v1/instances", { usage: true })).find(({ name }) => name === `${pool}-1`);

  const open = async (from: number, to: number): Promise<void> => {
    for (let index = from; index < to; index += 1) {
      const workspace = await openWorkspace(world, `${pool}-of-${index}`);
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

  it(`is ${isLong ? `at most ${boundMiB} MiB` : "some"} of the controller's memory for each, and the entries that are said`, async () => {
    await open(0, FEW);
    const before = await memoryMib();
    await open(FEW, many);
    const after = await memoryMib();
    const each = (after - before) / (many - FEW);
    process.stdout.write(
      `e2e: entries ${entries}: controller ${before.toFixed(0)} MiB with ${FEW} workspaces, ${after.toFixed(0)} MiB with ${many}: ${each.toFixed(2)} MiB each\n`,
    );
    // One of its own is for the canaries; what the workspaces take of the capacity are theirs.
    const own = entries === "per-workspace" ? many : 0;
    expect(await read()).toMatchObject({ units: many, clusterEntries: own + 1, load: { applications: many, clusterEntries: own } });
    if (isLong) expect(each).toBeLessThanOrEqual(boundMiB);
  });
});
