import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RolloutView } from "../src/api/rollout-views.ts";
import type { InstanceView, WorkspaceView } from "../src/api/schema.ts";
import type { VersionView } from "../src/api/version-views.ts";
import { UnavailableError } from "../src/domain/errors.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { again } from "./again.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const POOL = "rolled";
const OLD = "3.5.6";
const NEW = "3.5.7";
/** The same program as the new release, with a controller that is bad in one way. */
const BAD = { crashing: "3.5.8", stalled: "3.5.9" };
const WORKSPACES = 8;
const BUILD_MS = 25 * 60_000;
const ROLLOUT_MS = 10 * 60_000;
const PODS = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

type Pod = KubeObject & { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } };

describe.runIf(IS_LONG)("a rollout of real releases over four instances", () => {
  let world: World;
  let pools: PoolsWorld;
  let workspaces: readonly Workspace[];
  beforeAll(async () => {
    world = openWorld(90 * 60_000);
    pools = openPools(world);
    const [release] = pools.document.versions.catalogue;
    if (release === undefined) throw new Error("the fleet declares a release");
    const of = (version: string, tag: string) => ({ ...release, version, image: release.image.replace(/:[^:]*$/, `:v${tag}`) });
    const catalogue = [release, of(OLD, OLD), of(BAD.crashing, `${NEW}-crashing`), of(BAD.stalled, `${NEW}-stalled`)];
    const engine = { reconciliationSeconds: 5, reconciliationJitterSeconds: 0 };
    const pool = { name: POOL, instances: { min: 4, max: 4 }, version: OLD, engine };
    await pools.declare(pools.withPool(pool, { versions: { ...pools.document.versions, catalogue } }));
    await until(
      "four instances of the old release",
      ownInstances,
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
    // An instance stays as long as it holds a workspace.
    for (const { namespace } of workspaces) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    for (const version of Object.values(BAD)) await world.rest.post(`/v1/versions/${version}/unfreeze`, {}).catch(() => undefined);
    await pools.restore();
  }, ROLLOUT_MS);

  /** A server of a machine that is busy and does not answer in time has said nothing. */
  const patiently = async <T>(ask: () => Promise<T>): Promise<T> => {
    for (;;) {
      world.signal.throwIfAborted();
      const answer = await ask().then(
        (value) => ({ value }),
        (error: unknown) => (error instanceof UnavailableError ? undefined : Promise.reject(error)),
      );
      if (answer !== undefined) return answer.value;
    }
  };
  const listOf = <T>(path: string) => patiently(() => world.rest.all<T>(path));
  const ownInstances = async () => (await listOf<InstanceView>("/v1/instances")).filter(({ pool }) => pool === POOL);
  const create = (version: string) =>
    world.rest.post<RolloutView>("/v1/rollouts", { version, pool: POOL, bakeSeconds: 0, unattended: true, reason: "e2e" });
  const read = ({ id }: { readonly id: string }) => patiently(() => world.rest.get<RolloutView>(`/v1/rollouts/${id}`));
  const ended = (rollout: RolloutView) =>
    until(
      `the end of the rollout of ${rollout.version}`,
      () => read(rollout),
      ({ state }) => ["DONE", "FAILED", "ABORTED"].includes(state),
      ROLLOUT_MS,
    );
  const imagesOf = async (name: string): Promise<readonly string[]> => {
    const { items } = await world.kube.listPage<Pod>(PODS, { namespace: `argosy-${name}` }, world.signal);
    const argo = items.filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined && metadata.labels?.["app.kubernetes.io/component"] !== "redis",
    );
    return [...new Set(argo.map(({ spec }) => spec?.containers?.[0]?.image?.split(":").at(-1) ?? ""))].sort();
  };
  /** What users see, again and again until it is told to stop; returns every state that was worse than before. */
  const watchUsers = () => {
    const regressions: string[] = [];
    let looks = 0;
    const watching = again(50, async () => {
      for (const workspace of workspaces) {
        const { sync, health } = (await patiently(() => workspace.read("app")))?.status ?? {};
        if (sync?.status !== "Synced" || health?.status !== "Healthy")
          regressions.push(`${workspace.namespace}: ${sync?.status} ${health?.status}`);
      }
      looks += 1;
    });
    return async () => {
      await watching.end();
      return { looks, regressions };
    };
  };

  it(
    "goes through three waves, and users see nothing of it",
    async () => {
      const stop = watchUsers();
      const done = await ended(await create(NEW));
      const { looks, regressions } = await stop();
      expect(done).toMatchObject({ state: "DONE", waves: [{ name: "canary" }, { name: "50 %" }, { name: "100 %" }] });
      expect(done.waves.map(({ instances }) => instances.length)).toEqual([1, 1, 2]);
      expect((await ownInstances()).map(({ version, desiredVersion }) => [version, desiredVersion])).toEqual(Array(4).fill([NEW, NEW]));
      for (const { name } of await ownInstances()) expect(await imagesOf(name)).toEqual([`v${NEW}`]);
      expect(regressions).toEqual([]);
      expect(looks).toBeGreaterThan(0);
      const begins = done.waves.flatMap(({ instances }) => instances.map(({ readyAt }) => readyAt ?? "")).filter(Boolean);
      report(
        `rollout: ${OLD} to ${NEW} on 4 instances in 3 waves, ready at ${begins.join(", ")}; ${looks} looks at ${WORKSPACES} users' statuses, none was worse`,
      );
      const revision = await world.git.commit("rolled", { "dev/config.yaml": configMapFile("rolled", { step: "two" }) });
      for (const workspace of workspaces) {
        await workspace.annotate("app", { "argosy.dev/refreshed-at": "after the rollout" });
        await workspace.settled("app", revision);
      }
    },
    ROLLOUT_MS * 2,
  );

  it.each(Object.entries(BAD))(
    "P7: stops a %s release in its canary, and rolls that back",
    async (way, version) => {
      const units = (await listOf<WorkspaceView>("/v1/workspaces")).filter(({ namespace }) => namespace.startsWith("rolled-"));
      const stop = watchUsers();
      const begun = performance.now();
      const rollout = await create(version);
      const told = await until(
        "its end in sight",
        () => read(rollout),
        ({ state }) => state !== "RUNNING",
        ROLLOUT_MS,
      );
      const detectedMs = performance.now() - begun;
      const failed = await ended(told);
      const rolledBackMs = performance.now() - begun;
      const { regressions } = await stop();
      expect(failed).toMatchObject({ state: "FAILED", wave: 0 });
      expect(failed.note).toMatch(way === "crashing" ? /ends again and again/ : /looked at no application/);
      const [canary] = failed.waves[0]?.instances ?? [];
      const touched = units.flatMap((one) => one.units).filter(({ instance }) => instance === canary?.name).length;
      expect(touched).toBeLessThan(units.length);
      for (const { name } of await ownInstances()) expect(await imagesOf(name)).toEqual([`v${NEW}`]);
      await until("rows as before", ownInstances, (rows) => rows.every((row) => row.version === NEW && row.desiredVersion === NEW));
      expect(regressions).toEqual([]);
      const seconds = (ms: number) => Math.round(ms / 1000);
      report(
        `rollout: ${way} release noticed after ${seconds(detectedMs)} s, rolled back after ${seconds(rolledBackMs)} s, ${touched} of ${units.length} workspaces touched`,
      );

      await expect(create(version)).rejects.toThrow(/is frozen: it failed/);
      const { items } = await patiently(() => world.rest.get<{ readonly items: readonly VersionView[] }>("/v1/versions"));
      expect(items.find((one) => one.version === version)).toMatchObject({ state: "frozen", instances: [] });
      const gated = {
        ...pools.document,
        versions: { ...pools.document.versions, default: version, catalogue: await cataloguedWith(version) },
      };
      await expect(pools.declare(gated)).rejects.toThrow(/versions\.default: is frozen/);
      for (const workspace of workspaces) await workspace.settled("app");
    },
    ROLLOUT_MS * 2,
  );

  /** The catalogue with one more release, that a fleet could declare as its default. */
  const cataloguedWith = async (version: string) => {
    const [release] = pools.document.versions.catalogue;
    return release === undefined ? [] : [release, { ...release, version }];
  };
});
