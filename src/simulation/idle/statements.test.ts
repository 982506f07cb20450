import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { ApplicationId, EnvironmentId, InstanceId, MemberId, UnitId } from "../../domain/ids.ts";
import type { Store } from "../../store/port.ts";
import { WIDE } from "../../store/testing/builders.ts";
import { type Sent, sentBy, type Touched, touchedBy } from "../../store/testing/explain.ts";
import { PER_INSTANCE, SEEDED, SEEDED_CLASS, seedFleet } from "../../store/testing/seed-fleet.ts";
import { startTestServer, type TestServer } from "../../store/testing/test-server.ts";
import { type ControlPlane, startControlPlane } from "./testing/control-plane.ts";

const IS_LONG = process.env["ARGOSY_LONG"] === "1";
/** Workspaces of the fleet when each statement is run first, and when it is run again. */
const [SMALL, LARGE] = IS_LONG ? [30_000, 100_000] : [1_600, 4_800];
/** A table of a few pages is rightly read as a whole, whatever indexes it has. So in the short form plans are made as for large ones, where an index serves. */
const AS_IF_LARGE = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin"];
const LONG_MS = 30 * 60_000;
/** Each instance has been compared thoroughly, each class planned, and what is swept more seldom has begun with it. */
const WATCHED_MS = 330_000;
/** Rows of a page, in the short form: both fleets have more of everything that is read by pages. */
const PAGE_ROWS = 50;

/** A hundredth as many rows as there are workspaces, and never more than a few hundred of one instance: nothing is searched in them. */
const SMALL_TABLES = new Set(["instance", "instance_load", "instance_verdict", "usage_mark", "probe_sample"]);
const GROWING = new Set([...SEEDED].filter((table) => !SMALL_TABLES.has(table)));

/** Why a method of the store has to read in proportion to the fleet, and which tables. All others must not. */
interface Exception {
  readonly tables: readonly string[];
  readonly because: string;
  /** As many rows of the larger fleet at most. */
  readonly atMost?: number;
}

const EXCEPTIONS: Readonly<Record<string, Exception>> = {
  "splits.list": {
    tables: ["placement_unit"],
    because: "with each plan cycle it looks for units that are too large, by the load in their rows",
  },
  "placements.readFleet": {
    tables: ["placement_unit"],
    because: "while units wait, what the instances of their class hold is added up, once a second at most",
  },
  "syncRuns.listKnown": {
    tables: ["sync_run"],
    because: "a run ends by its age, which is found by comparing every row with the runs that exist",
  },
  "intents.listClasses": {
    tables: ["workspace", "placement_unit"],
    because: "it compares the quota of each workspace with the one that it was judged by",
  },
  "retention.forgetUsage": {
    tables: ["usage_label", "workspace"],
    because: "hourly: labels outlive their workspace, and nobody writes down that it has gone",
  },
  "retention.forgetCredentials": {
    tables: ["credential", "workspace", "repository_credential"],
    because: "hourly: a credential belongs to nothing when what it belonged to has no row, which is found by asking for each",
  },
};

/** One of the instances that were added, and what it holds. */
const INSTANCE = "i1" as InstanceId;
const UNITS = Array.from({ length: PER_INSTANCE }, (_, index) => `u${PER_INSTANCE + index}` as UnitId);
const ENVIRONMENTS = Array.from({ length: 10 }, (_, index) => `e${10 * index}` as EnvironmentId);
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const ago = (ms: number) => millis(Date.now() - ms);

/** What is sent again and again too, but not in a small fleet in which all is well, by the method of the store that sends it: when, and what. */
const ALSO: Readonly<Record<string, { readonly when: string; readonly send: (store: Store, signal: AbortSignal) => Promise<unknown> }>> = {
  "placements.readFleet": { when: "units wait", send: (store, signal) => store.placements.readFleet(SEEDED_CLASS, signal) },
  "placements.readUnits": { when: "units wait", send: (store, signal) => store.placements.readUnits(UNITS, signal) },
  "loads.countUnits": { when: "an instance holds a hundred units", send: (store, signal) => store.loads.countUnits(INSTANCE, signal) },
  "loads.recordSample": { when: "an instance holds a hundred units", send: recordSameSample },
  "loads.listInstanceLoads": { when: "people ask", send: (store, signal) => store.loads.listInstanceLoads(SEEDED_CLASS, signal) },
  "loads.listSizes": { when: "the load decides how many instances there are", send: (store, signal) => store.loads.listSizes(signal) },
  "health.readWindow": {
    when: "a process begins to probe an instance, or a rollout watches it",
    send: (store, signal) => store.health.readWindow(INSTANCE, ago(HOUR_MS), signal),
  },
  "health.listNeverCompared": {
    when: "an instance compares nothing",
    send: (store, signal) => {
      const age = { madeBefore: ago(HOUR_MS), notMovedSince: ago(HOUR_MS) };
      return store.health.listNeverCompared({ instanceId: INSTANCE, ...age, limit: 10 }, signal);
    },
  },
  "moves.list": { when: "plans are carried out", send: (store, signal) => store.moves.list({ isLive: true }, 1_000, signal) },
  "moves.listClusters": { when: "moves are under way", send: (store, signal) => store.moves.listClusters(UNITS, signal) },
  "rollouts.listFrozen": { when: "an instance has another version", send: (store, signal) => store.rollouts.listFrozen(signal) },
  "shards.listOwned": { when: "an instance holds a hundred units", send: (store, signal) => store.shards.listOwned(INSTANCE, signal) },
  "shards.listActing": { when: "an instance holds a hundred units", send: (store, signal) => store.shards.listActing(INSTANCE, signal) },
  "shards.listApplications": {
    when: "an instance holds a hundred units",
    send: (store, signal) => store.shards.listApplications(INSTANCE, signal),
  },
  "shards.listEnded": {
    when: "an instance has orphans",
    send: (store, signal) => store.shards.listEnded(INSTANCE, ["x100" as ApplicationId], signal),
  },
  "intents.readKnownWorkspaces": {
    when: "namespaces have changed",
    send: (store, signal) => store.intents.readKnownWorkspaces("main", ["team-7"], signal),
  },
  "intents.listClasses": { when: "quotas go by class", send: (store, signal) => store.intents.listClasses("main", signal) },
  "environments.listWithoutAccount": {
    when: "environments have accounts of ours",
    send: (store, signal) =>
      store.environments.listWithoutAccount({ apiCluster: "main", environments: ENVIRONMENTS, units: UNITS }, signal),
  },
  "decisions.list": {
    when: "the watchdog starts, or something was done lately",
    send: async (store, signal) => {
      await store.decisions.list({ kind: "ownership" }, 10_000, signal);
      await store.decisions.list({ kind: "health", verdict: "QUARANTINE", since: ago(DAY_MS) }, 1_000, signal);
    },
  },
  "ownership.readOwned": {
    when: "something has changed",
    send: async (store, signal) => {
      const [byId, byUnit, byName] = (await store.ownership.listOwned({ after: "", limit: 3 }, signal)).owned;
      const chosen = {
        applications: byId === undefined ? [] : [byId.id],
        units: byUnit === undefined ? [] : [byUnit.unitId],
        argoNames: byName === undefined ? [] : [byName.argoName],
      };
      await store.ownership.readOwned(chosen, signal);
    },
  },
  "members.listLive": { when: "people ask", send: (store, signal) => store.members.listLive(signal) },
  "members.acquire": { when: "a lease is taken", send: (store, signal) => store.members.acquire("lease", "m" as MemberId, 15_000, signal) },
};

/** Lists, and what forgets, that no timer asks for: people, commands and changes do, or what has ended. */
const ON_REQUEST = new Set([
  ...["audit.list", "credentials.list", "health.list", "operations.listOperations", "operations.listWorkspaces", "operations.listSyncs"],
  ...["operations.listDeployedKinds", "operations.listApplications", "plans.listSteps", "proposals.list", "recovery.listPlaced"],
  ...["repositoryCredentials.listOfWorkspace", "rollouts.list", "tokens.list", "usages.list", "loads.listHeaviest"],
  ...["fleet.listReleaseParts", "environments.listUsed", "syncRuns.forget"],
  ...["shards.forgetObjects", "shards.forgetApplications", "shards.forgetWorkspace", "shards.forgetPart"],
]);

/** A sample that brings nothing new, of all units of an instance. */
async function recordSameSample(store: Store, signal: AbortSignal): Promise<void> {
  const counted = await store.loads.countUnits(INSTANCE, signal);
  const at = millis(Date.now());
  const units = counted.map(({ unitId, epoch, known }) => {
    const { planning = WIDE, recent = WIDE } = known ?? {};
    return { unitId, epoch, load: { planning, recent, at }, whole: { ...planning, milliCpu: Math.ceil(planning.milliCpu) } };
  });
  await store.loads.recordSample(
    { instanceId: INSTANCE, at, total: WIDE, observation: undefined, cachedObjects: undefined, units },
    signal,
  );
}

/** The same with a short page where it asks for one. */
function withShortPage(sent: Sent): Sent {
  const places = IS_LONG ? [] : [...sent.text.matchAll(/limit \$(\d+)/g)].map(([, place]) => Number(place) - 1);
  return { ...sent, values: sent.values.map((value, place) => (places.includes(place) ? Math.min(Number(value), PAGE_ROWS) : value)) };
}

let server: TestServer;
let client: pg.Client;
let plane: ControlPlane;
/** What the control plane has sent while nothing happened. */
let atRest: readonly Sent[];
/** What each statement touched in the small fleet, and touches in the large one, by method and text. */
const [small, large] = [new Map<string, Measured>(), new Map<string, Measured>()];

interface Measured {
  readonly method: string;
  readonly touched: ReadonlyMap<string, Touched>;
}

async function measureAll(into: Map<string, Measured>): Promise<void> {
  for (const sent of atRest) await measure(into, { method: sent.by, place: sent.text.slice(0, 60) }, sent);
  for (const [method, { send }] of Object.entries(ALSO)) {
    const all = await sentBy(() => send(plane.store, AbortSignal.timeout(LONG_MS)));
    for (const [place, sent] of all.entries()) await measure(into, { method, place: `statement ${place + 1}` }, sent);
  }
}

/** `place`: what a statement without a name is called. Only one with a name is prepared, and may get a plan for any values. */
async function measure(
  into: Map<string, Measured>,
  { method, place }: { readonly method: string; readonly place: string },
  sent: Sent,
): Promise<void> {
  const plans = sent.name === "" ? (["force_custom_plan"] as const) : (["force_custom_plan", "force_generic_plan"] as const);
  for (const plan of plans) {
    const name = `${method}: ${sent.name || place} (${plan === "force_generic_plan" ? "any values" : "these values"})`;
    into.set(name, { method, touched: await touchedBy(client, withShortPage(sent), plan) });
  }
}

beforeAll(async () => {
  server = await startTestServer();
  const { url } = await server.createMigrated();
  plane = await startControlPlane({ url, workspaces: 6 });
  atRest = await plane.watch(WATCHED_MS);
  client = new pg.Client({ connectionString: url });
  await client.connect();
  if (!IS_LONG) for (const setting of AS_IF_LARGE) await client.query(`set ${setting} = off`);
  const grow = async (from: number, to: number) => {
    await seedFleet((text, values) => client.query(text, [...values]), { from, to });
    await client.query("vacuum analyze");
  };
  await grow(0, SMALL);
  await measureAll(small);
  await grow(SMALL, LARGE);
  await measureAll(large);
}, LONG_MS);
afterAll(async () => {
  await plane?.close();
  await client?.end();
  await server?.stop();
});

/** Whoever asks something of each instance reads at least a page of an index for it. */
const MORE_INSTANCES = (LARGE - SMALL) / PER_INSTANCE;
/** Whether a statement reads more of a fleet that is three times as large. Of blocks it may be up to twice as many: an index of two levels gets a third. */
const isMore = (before: Touched, after: Touched): boolean =>
  after.rows > before.rows * 1.3 + 20 || after.blocks > before.blocks * 2 + 60 + MORE_INSTANCES;
const NOTHING: Touched = { rows: 0, blocks: 0, written: 0 };

describe("what all roles send again and again while nothing happens", () => {
  it("reads no more of a larger fleet, and writes nothing of what grows with it", () => {
    expect(new Set(atRest.map(({ by }) => by)).size).toBeGreaterThan(35);
    const used = new Set<string>();
    const faults = [...large].flatMap(([name, { method, touched }]) =>
      [...touched].flatMap(([table, after]) => {
        const before = small.get(name)?.touched.get(table) ?? NOTHING;
        if (!GROWING.has(table)) return [];
        const { tables = [], atMost = Number.POSITIVE_INFINITY } = EXCEPTIONS[method] ?? {};
        const isExcepted = tables.includes(table) && after.rows <= atMost;
        if (isMore(before, after) && isExcepted) used.add(`${method} ${table}`);
        return [
          ...(isMore(before, after) && !isExcepted
            ? [`${name} reads ${table}: ${before.rows} rows of ${before.blocks} blocks, then ${after.rows} of ${after.blocks}`]
            : []),
          ...(after.written > 0 ? [`${name} writes ${after.written} rows of ${table}`] : []),
        ];
      }),
    );
    expect(faults).toEqual([]);
    // An exception that nothing needs any more is taken off the list.
    const listed = Object.entries(EXCEPTIONS).flatMap(([method, { tables }]) => tables.map((table) => `${method} ${table}`));
    expect(listed.filter((each) => !used.has(each))).toEqual([]);
  });

  it("is sent by a control plane at rest, or listed here, or asked for by people only: whatever lists rows, and whatever forgets them", () => {
    const methods = Object.entries(plane.store).flatMap(([part, of]) =>
      typeof of !== "object" ? [] : Object.keys(of as object).flatMap((name) => (/^(list|forget)/.test(name) ? `${part}.${name}` : [])),
    );
    expect(methods.length).toBeGreaterThan(40);
    const known = new Set([...atRest.map(({ by }) => by), ...Object.keys(ALSO), ...ON_REQUEST]);
    expect(methods.filter((method) => !known.has(method)).sort()).toEqual([]);
  });
});
