import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RolloutView } from "../src/api/rollout-views.ts";
import type { MoveView } from "../src/api/routes/moves.ts";
import { inSeconds } from "./in-seconds.ts";
import { openPools, type PoolsWorld, releaseTagged } from "./pools-world.ts";
import { openRollouts, ROLLOUT_MS, type RolloutWorld, storyOf } from "./rollout-world.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const POOL = "handed";
const OLD = "3.5.1";
const NEW = "3.5.7";
/**
 * The same program as the new release, with a controller that exits. It has its own number, because a release that
 * another story has rolled back is frozen.
 */
const CRASHING = "3.5.11";
const WORKSPACES = 6;
const BUILD_MS = 25 * 60_000;

describe.runIf(IS_LONG)("a rollout that moves workspaces to instances that have the release", () => {
  let world: World;
  let pools: PoolsWorld;
  let rollouts: RolloutWorld;
  let workspaces: readonly Workspace[];
  const declare = (size: number) => {
    const [release] = pools.document.versions.catalogue;
    if (release === undefined) throw new Error("the fleet declares a release");
    const of = (version: string, tag: string) => releaseTagged(release, version, `v${tag}`);
    const catalogue = [release, of(OLD, OLD), of(CRASHING, `${NEW}-crashing`)];
    const engine = { reconciliationSeconds: 20, reconciliationJitterSeconds: 0 };
    const pool = { name: POOL, instances: { min: size, max: size }, version: OLD, engine };
    return pools.declare(pools.withPool(pool, { versions: { ...pools.document.versions, catalogue } }));
  };
  const serving = (size: number) =>
    until(`${size} instances`, rollouts.ownInstances, (rows) => rows.filter(({ state }) => state === "ACTIVE").length === size, BUILD_MS);
  const create = (version: string) =>
    world.rest.post<RolloutView>("/v1/rollouts", { version, pool: POOL, mode: "drain", bakeSeconds: 0, unattended: true, reason: "e2e" });
  const movesSince = async (at: string) =>
    (await world.rest.all<MoveView>("/v1/moves")).filter(
      ({ createdAt, workspace }) => createdAt >= at && workspace?.startsWith(`${POOL}-`) === true,
    );

  beforeAll(async () => {
    world = openWorld(90 * 60_000);
    pools = openPools(world);
    rollouts = openRollouts(world, POOL);
    await declare(3);
    await serving(3);
    await world.git.commit(POOL, { "dev/config.yaml": configMapFile("handed", { step: "one" }) });
    workspaces = await Promise.all(Array.from({ length: WORKSPACES }, (_, index) => openWorkspace(world, `${POOL}-${index}`)));
    for (const workspace of workspaces) await workspace.apply("app", { repository: POOL, path: "dev" });
    for (const workspace of workspaces) await workspace.settled("app");
    await declare(4);
    await serving(4);
  }, BUILD_MS + ROLLOUT_MS);
  afterAll(async () => {
    for (const workspace of workspaces) await workspace.remove("app");
    for (const { namespace } of workspaces) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    await pools.restore();
  }, ROLLOUT_MS);

  it(
    "moves each workspace once, to an instance that has the release, and users see nothing of it",
    async () => {
      const stop = rollouts.watchUsers(workspaces);
      const begun = performance.now();
      const rollout = await create(NEW);
      expect(rollout.waves.map(({ name }) => name)[0]).toBe("spare");
      const done = await rollouts.ended(rollout);
      const took = performance.now() - begun;
      const { observations, regressions } = await stop();
      expect(done).toMatchObject({ state: "DONE", mode: "drain" });
      expect(regressions).toEqual([]);
      const rows = await rollouts.ownInstances();
      expect(rows.map(({ version, desiredVersion, state }) => [version, desiredVersion, state])).toEqual(
        Array(4).fill([NEW, NEW, "ACTIVE"]),
      );
      for (const { name } of rows) expect(await rollouts.imagesOf(name)).toEqual([`v${NEW}`]);
      const moves = await movesSince(rollout.createdAt);
      expect(moves.map(({ phase }) => phase)).toEqual(moves.map(() => "DONE"));
      const counts = [...Map.groupBy(moves, ({ workspace }) => workspace).values()].map(({ length }) => length);
      expect(Math.max(...counts)).toBe(1);
      expect(counts.length).toBe(done.waves.flatMap(({ instances }) => instances).reduce((sum, { units }) => sum + units, 0));
      report(`drain to upgraded: ${OLD} to ${NEW} on 4 instances: ${inSeconds(took)}, ${moves.length} workspaces handed over once each`);
      for (const line of done.waves.flatMap(storyOf)) report(`drain to upgraded: ${line}`);
      report(`drain to upgraded: ${observations} observations of ${WORKSPACES} users' statuses, none was worse`);
      const revision = await world.git.commit(POOL, { "dev/config.yaml": configMapFile("handed", { step: "two" }) });
      for (const workspace of workspaces) {
        await workspace.annotate("app", { "argosy.dev/refreshed-at": "after the rollout" });
        await workspace.settled("app", revision);
      }
    },
    ROLLOUT_MS * 2,
  );

  it(
    "P7: gives a crashing release to an empty instance, and to no other",
    async () => {
      const stop = rollouts.watchUsers(workspaces);
      const rollout = await create(CRASHING);
      const failed = await rollouts.ended(rollout);
      const { regressions } = await stop();
      expect(failed).toMatchObject({ state: "FAILED", wave: 0, waves: [{ name: "spare" }, {}, {}, {}].slice(0, failed.waves.length) });
      expect(await movesSince(rollout.createdAt)).toEqual([]);
      expect(regressions).toEqual([]);
      for (const { name } of await rollouts.ownInstances()) expect(await rollouts.imagesOf(name)).toEqual([`v${NEW}`]);
      report(`drain to upgraded: ${failed.note}: 0 of ${WORKSPACES} workspaces touched`);
    },
    ROLLOUT_MS * 2,
  );
});
