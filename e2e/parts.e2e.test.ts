import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { percentile } from "../bench/statistics.ts";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { InstanceView, WorkspaceView } from "../src/api/schema.ts";
import type { InstanceId, UnitId } from "../src/domain/ids.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { accountName } from "../src/shard/names.ts";
import { again } from "./again.ts";
import { watchApplications } from "./application-watch.ts";
import { argosy } from "./command-line.ts";
import { inSeconds } from "./in-seconds.ts";
import { mayWrite } from "./moves-world.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { reflect } from "./reflect.ts";
import { type SeenSync, secondSyncs, syncsOf } from "./sync-watch.ts";
import { watchUser } from "./user-watch.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const POOL = "parts";
const NAMESPACE = "parts-team";
const APPLICATIONS = 600;
/** Applications that one instance bears: a unit may have a quarter of 60 % of that, so the workspace is to have as many parts as there are instances. */
const BEARS = 900;
/** So many that a quarter of 60 % is more than the workspace has, with 40 % to spare. */
const ROOMY = 8_000;
const INSTANCES = 3;
/** Of what is not to decide. */
const AMPLE = 100_000;
const PUSH_EVERY_MS = 1_000;
const PROBE_EVERY_MS = 1_000;
/** Six hundred real applications on the processes of a small machine; each step waits for a cycle and for the one before. */
const PARTS_TIMEOUT_MS = 30 * 60_000;
const DEADLINE_MS = 90 * 60_000;

interface ConfigMap extends KubeObject {
  readonly data?: { readonly push?: string };
}

describe.runIf(IS_LONG)("a deployed workspace that is larger than an instance should have", () => {
  let world: World;
  let pools: PoolsWorld;
  let workspace: Workspace;
  const names = Array.from({ length: APPLICATIONS }, (_, index) => `app-${index}`);
  const declare = (applications: number) => {
    const [own] = pools.document.pools;
    // A controller that shares a small machine with others takes all the CPU there is: that would cut the workspace while it is still being filled.
    const capacity = { ...(own?.["capacity"] as object), applications, milliCpu: AMPLE, gitPerMinute: AMPLE };
    // What is declared has to fit into the memory that is declared.
    const controller = { cpu: "1", memory: "4Gi" };
    const resources = { ...(own?.["resources"] as object), controller };
    const pool = { name: POOL, instances: { min: INSTANCES, max: INSTANCES }, capacity, resources };
    const quota = { workspaces: { ...(pools.document["workspaces"] as object), quota: { deployments: APPLICATIONS } } };
    const declared = pools.withPool(pool, quota);
    return pools.declare({ ...declared, rebalancing: [{ class: `local/${POOL}/public`, mode: "auto" }] });
  };
  const unitsOf = async () =>
    (await world.rest.all<WorkspaceView>("/v1/workspaces")).find((each) => each.namespace === NAMESPACE)?.units ?? [];
  const moves = async () => (await world.rest.all<MoveView>("/v1/moves", { workspace: NAMESPACE })).toReversed();

  beforeAll(async () => {
    world = openWorld(DEADLINE_MS);
    pools = openPools(world);
    await declare(ROOMY);
    for (let index = 1; index <= INSTANCES; index += 1)
      await pools.instance(`${POOL}-${index}`, "active", (found) => found?.state === "ACTIVE");
    const files = names.map((name) => [`${name}/config.yaml`, configMapFile(name, { push: "0" })]);
    await world.git.commit(NAMESPACE, Object.fromEntries(files));
    workspace = await openWorkspace(world, NAMESPACE);
    for (const name of names) await workspace.apply(name, { repository: NAMESPACE, path: name });
    for (const name of names) await workspace.settled(name);
  }, DEADLINE_MS);
  afterAll(async () => {
    await world.kube.delete(TYPES.namespace, { namespace: "", name: NAMESPACE }, {}, world.signal);
    await pools.restore();
  }, DEADLINE_MS);

  /** Of all stories: what is pushed is never what an application has already, or nobody would see it arrive. */
  let pushed = 0;
  /** Pushes to one application after the other, and what becomes of it: how long each took, and every sync there was. */
  const watchEverything = async () => {
    const sent = new Map<string, { readonly text: string; readonly at: number }>();
    const waits: number[] = [];
    const known = new Map<string, SeenSync>();
    const writers: (readonly string[])[] = [];
    let pushes = 0;
    const uids = async () => {
      const { items } = await world.kube.listPage<KubeObject>(TYPES.configMap, { namespace: NAMESPACE }, world.signal);
      const found = new Map(items.map(({ metadata: { name, uid } }) => [name, uid]));
      return names.map((name) => found.get(name));
    };
    const before = await uids();
    expect(before).not.toContain(undefined);
    const user = await watchUser(world, NAMESPACE);
    const arrivals = await reflect<ConfigMap>(world, { type: TYPES.configMap, namespace: NAMESPACE }, (change) => {
      if (change.kind === "delete") return;
      const { metadata, data } = change.now;
      const push = sent.get(metadata.name);
      if (push === undefined || push.text !== data?.push) return;
      sent.delete(metadata.name);
      waits.push(performance.now() - push.at);
    });
    const applications = await watchApplications(world, (application) => {
      for (const sync of syncsOf(application)) known.set(Object.values(sync).join(" "), sync);
    });
    const instances = (await pools.instances()).filter(({ pool }) => pool === POOL);
    const watching = [
      again(PUSH_EVERY_MS, async () => {
        pushes += 1;
        const name = names[(pushes * 7) % names.length] ?? "app-0";
        if (sent.has(name)) return;
        pushed += 1;
        const text = String(pushed);
        // Before the commit: its application may be compared at any moment, and what it brings would be seen by nobody who waits for it.
        sent.set(name, { text, at: performance.now() });
        await world.git.commit(NAMESPACE, { [`${name}/config.yaml`]: configMapFile(name, { push: text }) });
        await workspace.annotate(name, { "argosy.dev/refreshed-at": text });
      }),
      again(PROBE_EVERY_MS, async () => {
        for (const { id } of await unitsOf()) writers.push(await writersOf(id as UnitId, instances));
      }),
    ];
    return {
      sinceThen: async () => expect(await uids()).toEqual(before),
      async end() {
        for (const each of watching) await each.end();
        await until(
          "every push",
          async () => sent.size,
          (left) => left === 0,
          PARTS_TIMEOUT_MS,
        );
        await Promise.all([arrivals.close(), applications.close(), user.close()]);
        expect(await uids()).toEqual(before);
        expect(writers.filter((some) => some.length > 1)).toEqual([]);
        expect(user.gone()).toEqual([]);
        expect.soft(user.odd()).toEqual([]);
        const own = [...known.values()].filter(({ application }) => application.includes(NAMESPACE));
        expect(secondSyncs(own)).toEqual([]);
        return { pushes, waits: waits.toSorted((a, b) => a - b), syncs: own.length, probes: writers.length };
      },
    };
  };
  /** Accounts of one unit that may write in the namespace now. */
  const writersOf = async (unit: UnitId, instances: readonly InstanceView[]): Promise<readonly string[]> => {
    const accounts = instances.map(({ id }) => accountName(unit, id as InstanceId));
    const may = async () => Promise.all(accounts.map((account) => mayWrite(world, NAMESPACE, account)));
    const [once, twice] = [await may(), await may()];
    return accounts.filter((_, index) => once[index] === true && twice[index] === true);
  };
  const tell = async (
    what: string,
    since: number,
    { pushes, waits, syncs, probes }: Awaited<ReturnType<Awaited<ReturnType<typeof watchEverything>>["end"]>>,
  ) => {
    const own = (await moves()).filter(({ endedAt }) => endedAt !== null);
    const gaps = own.map(({ gapMs, tookMs }) => `${gapMs} ms of ${tookMs} ms`).join(", ");
    report(`${what} after ${inSeconds(performance.now() - since)}; moves, gap and whole: ${gaps}`);
    report(
      `${pushes} pushes meanwhile, each in the namespace after ${inSeconds(percentile(waits, 0.5))} p50, ${inSeconds(percentile(waits, 0.99))} p99, ${inSeconds(waits.at(-1) ?? 0)} at most; ${syncs} syncs, none twice; ${probes} probes`,
    );
  };

  it(
    "is cut over three instances while its user pushes: no object is made anew, and nothing is synced twice",
    async () => {
      expect(await unitsOf()).toHaveLength(1);
      const everything = await watchEverything();
      const since = performance.now();
      await declare(BEARS);
      await until(
        "three parts on three instances",
        unitsOf,
        (units) => units.length === INSTANCES && new Set(units.map(({ instance }) => instance)).size === INSTANCES,
        PARTS_TIMEOUT_MS,
      );
      await until(
        "the end of its moves",
        moves,
        (all) => all.length >= 2 && all.every(({ endedAt }) => endedAt !== null),
        PARTS_TIMEOUT_MS,
      );
      await everything.sinceThen();
      await tell("three parts on three instances", since, await everything.end());
      expect((await moves()).map(({ phase }) => phase)).toEqual(["DONE", "DONE"]);
      const { out } = await argosy(world, "journal", "--kind", "placement", "--verdict", "CUT", "-o", "json");
      expect(JSON.parse(out)).toMatchObject([{ rule: "PARTS" }, { rule: "PARTS" }]);
    },
    DEADLINE_MS,
  );

  it(
    "is one again once it is small enough for its instances, under the same pushes",
    async () => {
      const everything = await watchEverything();
      const since = performance.now();
      await declare(ROOMY);
      await until("one part", unitsOf, (units) => units.length === 1, PARTS_TIMEOUT_MS);
      await tell("one part", since, await everything.end());
      // Those of the parts that are gone went with them.
      expect(new Set((await moves()).map(({ phase }) => phase))).toEqual(new Set(["DONE"]));
      const { out } = await argosy(world, "journal", "--kind", "placement", "--verdict", "JOINED", "-o", "json");
      expect(JSON.parse(out)).toHaveLength(INSTANCES - 1);
    },
    DEADLINE_MS,
  );
});
