import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RolloutView } from "../src/api/rollout-views.ts";
import type { WorkspaceView } from "../src/api/schema.ts";
import type { VersionView } from "../src/api/version-views.ts";
import { inSeconds } from "./in-seconds.ts";
import { openPools, type PoolsWorld, releaseTagged } from "./pools-world.ts";
import { openRollouts, ROLLOUT_MS, type RolloutWorld, storyOf } from "./rollout-world.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const POOL = "rolled";
const OLD = "3.5.1";
const NEW = "3.5.7";
/** The same program as the new release, faulty in one way. */
const BAD = { crashing: "3.5.8", stalled: "3.5.9", failing: "3.5.10" };
const WORKSPACES = 8;
/** How long the first rollout's waves bake, in s. */
const BAKE_S = 15;
/**
 * Judging by syncs needs many syncs: the canary gets so many more applications, and so many pushes come before the
 * story gives up.
 */
const FURTHER = 24;
const PUSHES = 30;
const BUILD_MS = 25 * 60_000;

describe.runIf(IS_LONG)("a rollout of real releases over four instances", () => {
  let world: World;
  let pools: PoolsWorld;
  let rollouts: RolloutWorld;
  let workspaces: readonly Workspace[];
  beforeAll(async () => {
    world = openWorld(90 * 60_000);
    pools = openPools(world);
    rollouts = openRollouts(world, POOL);
    const [release] = pools.document.versions.catalogue;
    if (release === undefined) throw new Error("the fleet declares a release");
    const of = (version: string, tag: string) => releaseTagged(release, version, `v${tag}`);
    const catalogue = [release, of(OLD, OLD), ...Object.entries(BAD).map(([way, version]) => of(version, `${NEW}-${way}`))];
    const engine = { reconciliationSeconds: 20, reconciliationJitterSeconds: 0 };
    const pool = { name: POOL, instances: { min: 4, max: 4 }, version: OLD, engine };
    const declare = (change: object) =>
      pools.declare(pools.withPool(pool, { versions: { ...pools.document.versions, catalogue, ...change } }));
    await expect(declare({ floor: NEW })).rejects.toThrow(`is older than versions.floor (${NEW})`);
    await declare({});
    await until(
      "four instances of the old release",
      rollouts.ownInstances,
      (rows) => rows.filter(({ state }) => state === "ACTIVE").length === 4,
      BUILD_MS,
    );
    await world.git.commit("rolled", { "dev/config.yaml": configMapFile("rolled", { step: "one" }) });
    workspaces = await Promise.all(Array.from({ length: WORKSPACES }, (_, index) => openWorkspace(world, `rolled-${index}`)));
    for (const workspace of workspaces) await workspace.apply("app", { repository: "rolled", path: "dev" });
    for (const workspace of workspaces) await workspace.settled("app");
  }, BUILD_MS + ROLLOUT_MS);
  afterAll(async () => {
    for (const workspace of workspaces) await workspace.remove("app");
    // An instance stays while it holds a workspace.
    for (const { namespace } of workspaces) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    await pools.restore();
  }, ROLLOUT_MS);

  const create = (version: string, bakeSeconds = 0) =>
    world.rest.post<RolloutView>("/v1/rollouts", { version, pool: POOL, bakeSeconds, unattended: true, reason: "e2e" });
  it(
    "goes through three waves, and users see nothing of it",
    async () => {
      const stop = rollouts.watchUsers(workspaces);
      const begun = performance.now();
      const done = await rollouts.ended(await create(NEW, BAKE_S));
      const took = performance.now() - begun;
      const { observations, regressions } = await stop();
      expect(done).toMatchObject({ state: "DONE", waves: [{ name: "canary" }, { name: "50 %" }, { name: "100 %" }] });
      expect(done.waves.map(({ instances }) => instances.length)).toEqual([1, 1, 2]);
      expect((await rollouts.ownInstances()).map(({ version, desiredVersion }) => [version, desiredVersion])).toEqual(
        Array(4).fill([NEW, NEW]),
      );
      for (const { name } of await rollouts.ownInstances()) expect(await rollouts.imagesOf(name)).toEqual([`v${NEW}`]);
      expect(regressions).toEqual([]);
      expect(observations).toBeGreaterThan(0);
      report(`rollout: ${OLD} to ${NEW} on 4 instances in 3 waves: ${inSeconds(took)}`);
      for (const line of done.waves.flatMap(storyOf)) report(`rollout: ${line}`);
      report(`rollout: ${observations} observations of ${WORKSPACES} users' statuses, none was worse`);
      const asked = done.waves.map(({ instances }) => instances.map(({ askedAt }) => askedAt ?? ""));
      done.waves.slice(1).forEach((_, wave) => {
        expect(asked[wave + 1]?.every((at) => at >= (done.waves[wave]?.passedAt ?? "9"))).toBe(true);
      });
      for (const { passedAt, bakingSince } of done.waves)
        expect(Date.parse(passedAt ?? "") - Date.parse(bakingSince ?? "")).toBeGreaterThanOrEqual(BAKE_S * 1000);
      const revision = await world.git.commit("rolled", { "dev/config.yaml": configMapFile("rolled", { step: "two" }) });
      for (const workspace of workspaces) {
        await workspace.annotate("app", { "argosy.dev/refreshed-at": "after the rollout" });
        await workspace.settled("app", revision);
      }
    },
    ROLLOUT_MS * 2,
  );

  /** The namespaces of the workspaces on a rollout's canary. */
  const onCanary = async ({ waves }: RolloutView): Promise<readonly Workspace[]> => {
    const canary = waves[0]?.instances[0]?.name;
    const held = (await world.rest.all<WorkspaceView>("/v1/workspaces")).filter(({ units }) =>
      units.some(({ instance }) => instance === canary),
    );
    return workspaces.filter(({ namespace }) => held.some((one) => one.namespace === namespace));
  };
  /** Rolls out a faulty release, and checks everything that follows and how long it took. */
  const failWith = async (version: string, bakeSeconds: number, meanwhile: (rollout: RolloutView) => Promise<void>) => {
    const begun = performance.now();
    const rollout = await create(version, bakeSeconds);
    const busy = meanwhile(rollout);
    const reported = await until(
      "the rollout stopped",
      () => rollouts.read(rollout),
      ({ state }) => state !== "RUNNING",
      ROLLOUT_MS,
    );
    const detectedMs = performance.now() - begun;
    const failed = await rollouts.ended(reported);
    const rolledBackMs = performance.now() - begun;
    await busy;
    expect(failed).toMatchObject({ state: "FAILED", wave: 0 });
    const touched = (await onCanary(failed)).length;
    expect(touched).toBeLessThan(WORKSPACES);
    for (const { name } of await rollouts.ownInstances()) expect(await rollouts.imagesOf(name)).toEqual([`v${NEW}`]);
    await until("rows as before", rollouts.ownInstances, (rows) => rows.every((row) => row.version === NEW && row.desiredVersion === NEW));
    const times = `noticed after ${inSeconds(detectedMs)}, rolled back ${inSeconds(rolledBackMs - detectedMs)} later`;
    report(`rollout: ${version}: ${failed.note}: ${times}, ${touched} of ${WORKSPACES} workspaces touched`);
    return failed;
  };

  it.each([
    ["crashing", /ends again and again/],
    ["stalled", /compared no application/],
  ] as const)(
    "P7: stops a %s release in its canary, and rolls that back",
    async (way, note) => {
      const version = BAD[way];
      const stop = rollouts.watchUsers(workspaces);
      const failed = await failWith(version, 0, () => Promise.resolve());
      const { regressions } = await stop();
      expect(failed.note).toMatch(note);
      expect(regressions).toEqual([]);

      await expect(create(version)).rejects.toThrow(/is frozen: it failed/);
      const { items } = await world.rest.get<{ readonly items: readonly VersionView[] }>("/v1/versions");
      expect(items.find((one) => one.version === version)).toMatchObject({ state: "frozen", instances: [] });
      const gated = {
        ...pools.document,
        versions: { ...pools.document.versions, default: version, catalogue: cataloguedWith(version, `v${NEW}-${way}`) },
      };
      await expect(pools.declare(gated)).rejects.toThrow(/versions\.default: is frozen/);
      for (const workspace of workspaces) await workspace.settled("app");
    },
    ROLLOUT_MS * 2,
  );

  it(
    "P7: stops a release that fails one sync of twenty in its canary, by its syncs alone, and rolls that back",
    async () => {
      let pushes = 0;
      let last = "";
      let busy: readonly Workspace[] = [];
      let names: readonly string[] = [];
      const filesOf = (workspace: Workspace) =>
        names.map((name) => [
          `${workspace.namespace}/${name}/config.yaml`,
          configMapFile(name, { of: workspace.namespace, push: String(pushes) }),
        ]);
      const commit = () => {
        pushes += 1;
        return world.git.commit("pushed", Object.fromEntries(busy.flatMap(filesOf)));
      };
      const push = async () => {
        const revision = await commit();
        const files = busy.flatMap((workspace) => names.map((name) => ({ workspace, name })));
        await Promise.all(files.map(({ workspace, name }) => workspace.annotate(name, { "argosy.dev/refreshed-at": revision })));
        return revision;
      };
      const failed = await failWith(BAD.failing, ROLLOUT_MS / 1000, async (rollout) => {
        busy = await onCanary(rollout);
        names = Array.from({ length: Math.ceil(FURTHER / busy.length) }, (_, index) => `more-${index}`);
        last = await commit();
        for (const workspace of busy)
          for (const name of names) await workspace.apply(name, { repository: "pushed", path: `${workspace.namespace}/${name}` });
        while ((await rollouts.read(rollout)).state === "RUNNING" && pushes < PUSHES) {
          last = await push();
          await until(
            "what was pushed deployed, where it can be",
            () => lagging(busy, names, last),
            (late) => late <= FURTHER / 4,
          );
        }
      });
      expect(failed.note).toMatch(/\d+ of \d+ syncs failed/);
      // What the release has spoilt is rendered again by the one before, without another push.
      for (const workspace of busy) for (const name of names) await workspace.settled(name, last);
      for (const workspace of workspaces) await workspace.settled("app");
      report(`rollout: ${pushes} pushes to ${busy.length * names.length} applications, all of which are as their users want them`);
      for (const workspace of busy) for (const name of names) await workspace.remove(name);
    },
    ROLLOUT_MS * 2,
  );

  /** How many of the applications do not show this revision as deployed. */
  const lagging = async (some: readonly Workspace[], names: readonly string[], revision: string): Promise<number> => {
    const all = some.flatMap((workspace) => names.map((name) => workspace.read(name)));
    return (await Promise.all(all)).filter((one) => one?.status?.sync?.status !== "Synced" || one.status.sync.revision !== revision).length;
  };

  /** The catalogue with one more release, which a fleet could declare as its default. */
  const cataloguedWith = (version: string, tag: string) => {
    const [release] = pools.document.versions.catalogue;
    return release === undefined ? [] : [release, releaseTagged(release, version, tag)];
  };
});
