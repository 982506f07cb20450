import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PoolCapacityView } from "../src/api/routes/capacity.ts";
import { again } from "./again.ts";
import { argosy } from "./command-line.ts";
import { inSeconds } from "./in-seconds.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const POOL = "scaled";
/** Applications that one instance bears: few, so that few make a pool grow. */
const BEARS = 8;
const OBSERVE_EVERY_MS = 500;
/** Growing waits for a cycle of two minutes and a new instance, shrinking for two cycles and a drain. */
const SCALE_TIMEOUT_MS = 15 * 60_000;

describe.runIf(IS_LONG)("a pool whose size is decided by load", () => {
  let world: World;
  let pools: PoolsWorld;
  const workspaces: Workspace[] = [];
  beforeAll(async () => {
    world = openWorld();
    pools = openPools(world);
    const capacity = { ...(pools.document.pools[0]?.["capacity"] as object), applications: BEARS };
    const declared = pools.withPool({ name: POOL, instances: { min: 1, max: 4 }, capacity });
    const [own, ...others] = declared.pools;
    const scaled = { ...own, instances: { min: 1, max: 4, scaling: "auto" } };
    const rebalancing = [{ class: `local/${POOL}/public`, mode: "auto" }];
    await pools.declare({ ...declared, pools: [scaled, ...others], rebalancing });
    await pools.instance(`${POOL}-1`, "active", (found) => found?.state === "ACTIVE");
    await push("one");
  });
  afterAll(async () => {
    for (const { namespace } of workspaces) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    await pools.restore();
  });

  /** What each of a workspace's two applications deploys. */
  const push = (step: string) =>
    world.git.commit(
      POOL,
      Object.fromEntries(["0", "1"].map((index) => [`app-${index}/config.yaml`, configMapFile(`scaled-${index}`, { step })])),
    );
  const capacityOf = async (): Promise<PoolCapacityView | undefined> =>
    (await world.rest.get<{ readonly items: readonly PoolCapacityView[] }>("/v1/capacity")).items.find(({ pool }) => pool === POOL);
  const serving = (count: number) =>
    until(
      `${count} instances of ${POOL} serve`,
      capacityOf,
      (seen) => seen?.serving === count && seen.instances === count,
      SCALE_TIMEOUT_MS,
    );
  const deploy = async (namespace: string, applications: number): Promise<void> => {
    const workspace = await openWorkspace(world, namespace);
    workspaces.push(workspace);
    for (let index = 0; index < applications; index += 1) await workspace.apply(`app-${index}`, { repository: POOL, path: `app-${index}` });
    for (let index = 0; index < applications; index += 1) await workspace.settled(`app-${index}`);
  };

  it("has a second instance as soon as it serves anybody, and a third before two are full", async () => {
    const fullest: number[] = [];
    const watching = again(OBSERVE_EVERY_MS, async () => {
      const own = (await pools.instances()).filter(({ pool, state }) => pool === POOL && state === "ACTIVE");
      fullest.push(Math.max(0, ...own.map(({ load }) => load.applications / BEARS)));
    });
    const since = performance.now();
    await deploy("scaled-a", 2);
    await serving(2);
    report(`a second instance served after ${inSeconds(performance.now() - since)}`);
    for (const namespace of ["scaled-b", "scaled-c", "scaled-d"]) await deploy(namespace, 2);
    const grown = performance.now();
    const three = await serving(3);
    report(`a third instance served after ${inSeconds(performance.now() - grown)}: ${three?.reason}`);
    await watching.end();
    expect(Math.max(...fullest)).toBeLessThanOrEqual(1);
    expect(three?.expected).toMatchObject({ dimension: "applications" });
    const { out } = await argosy(world, "journal", "--kind", "plan", "--verdict", "GROWN", "-o", "wide");
    expect(out).toContain(`pool ${POOL} is to have 3 instances instead of 2`);
  });

  it("gives one up once it is not needed: what that holds is handed over, and nothing is deleted", async () => {
    // A class that has a third less at once is not believed for a day.
    for (const { namespace } of workspaces.splice(3))
      await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    const uids = () => Promise.all(workspaces.map(async (workspace) => (await workspace.configMap("scaled-0"))?.metadata.uid));
    const before = await uids();
    expect(before).not.toContain(undefined);
    const since = performance.now();
    const watching = again(OBSERVE_EVERY_MS, async () => expect(await uids()).toEqual(before));
    await serving(2);
    await watching.end();
    report(`one of three instances was given up after ${inSeconds(performance.now() - since)}`);
    const { out } = await argosy(world, "journal", "--kind", "plan", "--verdict", "SHRUNK", "-o", "wide");
    expect(out).toContain(`pool ${POOL} does with 2 instances instead of 3`);
    await push("two");
    for (const workspace of workspaces) await workspace.annotate("app-0", { "argosy.dev/refreshed-at": "two" });
    for (const workspace of workspaces)
      await until(
        `${workspace.namespace} at the last push`,
        () => workspace.configMap("scaled-0"),
        (found) => found?.data?.["step"] === "two",
      );
  });
});
