import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { ApplicationId, EnvironmentId, InstanceId, MemberId, UnitId } from "../../../domain/ids.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import type { Store } from "../../port.ts";
import { WIDE } from "../../testing/builders.ts";
import { type Sent, sentBy, type Touched, touchedBy } from "../../testing/explain.ts";
import { PER_CLASS, PER_INSTANCE, SEEDED, seedFleet } from "../../testing/seed-fleet.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { createKeyRing } from "./credentials/envelope.ts";
import { createPostgresStore } from "./postgres-store.ts";

const IS_LONG = process.env["ARGOSY_LONG"] === "1";
/** Workspaces of the fleet when each statement is run first, and when it is run again. */
const [SMALL, LARGE] = IS_LONG ? [30_000, 100_000] : [1_000, 3_000];
/** A table of a few pages is rightly read as a whole, whatever indexes it has. So in the short form plans are made as for large ones, where an index serves. */
const AS_IF_LARGE = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin"];
const LONG_MS = 20 * 60_000;

/** A hundredth as many rows as there are workspaces, and never more than a few hundred of one instance: nothing is searched in them. */
const SMALL_TABLES = new Set(["instance", "instance_load", "instance_verdict", "usage_mark", "probe_sample"]);
const GROWING = new Set([...SEEDED].filter((table) => !SMALL_TABLES.has(table)));

interface Periodic {
  /** Who sends it, and how often. */
  readonly by: string;
  readonly send: (store: Store, signal: AbortSignal) => Promise<unknown>;
  /** Why it has to read in proportion to the fleet, and what: absent where it must not. `atMost`: so many rows in the large fleet. */
  readonly reads?: { readonly tables: readonly string[]; readonly because: string; readonly atMost?: number };
}

/** One of the first instances, which holds as much in a small fleet as in a large one; and its class. */
const INSTANCE = "i1" as InstanceId;
/** Instances of one process. */
const INSTANCES = Array.from({ length: 10 }, (_, index) => `i${index}` as InstanceId);
const CLASS = "c0/shared/public";
const UNITS = Array.from({ length: PER_INSTANCE }, (_, index) => `u${PER_INSTANCE + index}` as UnitId);
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const now = () => millis(Date.now());
const ago = (ms: number) => millis(Date.now() - ms);
const PAGE = { limit: 1_000, after: "" };
/** Of a list that both fleets have more of. */
const SHORT_PAGE = { limit: 50, after: "" };
const ENVIRONMENTS = Array.from({ length: 10 }, (_, index) => `e${10 * index}` as EnvironmentId);

/** What is sent again and again while nothing happens, by the method of the store that sends it. */
const PERIODIC: Readonly<Record<string, Periodic>> = {
  "placements.listUnsettled": { by: "scheduler, 15 s", send: (store, signal) => store.placements.listUnsettled(PAGE, signal) },
  "placements.readFleet": { by: "scheduler, for units that wait", send: (store, signal) => store.placements.readFleet(CLASS, signal) },
  "placements.readUnits": {
    by: "scheduler, 15 s for units that wait",
    send: (store, signal) => store.placements.readUnits(UNITS, signal),
  },
  "fleet.readFleet": { by: "all, 60 s", send: (store, signal) => store.fleet.readFleet(signal) },
  "fleet.listInstances": { by: "all, 15 s", send: (store, signal) => store.fleet.listInstances(signal) },
  "loads.countUnits": { by: "sampler, 120 s for each instance", send: (store, signal) => store.loads.countUnits(INSTANCE, signal) },
  "loads.readState": { by: "sampler, 120 s for each instance", send: (store, signal) => store.loads.readState(CLASS, signal) },
  "loads.recordSample": { by: "sampler, 120 s for each instance", send: recordSameSample },
  "loads.listInstanceLoads": { by: "planner, 120 s for each class", send: (store, signal) => store.loads.listInstanceLoads(CLASS, signal) },
  "loads.listSizes": { by: "provisioner, 60 s", send: (store, signal) => store.loads.listSizes(signal) },
  "usages.readMark": { by: "sampler, 120 s for each instance", send: (store, signal) => store.usages.readMark(INSTANCE, signal) },
  "plans.listClasses": {
    by: "planner, 120 s",
    send: (store, signal) => store.plans.listClasses(signal),
    reads: {
      tables: ["placement_unit"],
      because: "it probes the index once for each class, of which this fleet has ever more",
      atMost: LARGE / PER_CLASS,
    },
  },
  "plans.readFacts": { by: "planner, 120 s for each class", send: (store, signal) => store.plans.readFacts(CLASS, ago(DAY_MS), signal) },
  "plans.list": { by: "planner, 120 s for each class", send: (store, signal) => store.plans.list({ class: CLASS }, 10, signal) },
  "splits.list": { by: "planner, 120 s for each class", send: (store, signal) => store.splits.list(CLASS, WIDE, signal) },
  "directives.listFreezes": { by: "planner, 120 s", send: (store, signal) => store.directives.listFreezes(signal) },
  "health.listVerdicts": { by: "planner, 120 s for each class", send: (store, signal) => store.health.listVerdicts(signal) },
  "health.readWindow": {
    by: "health, for each instance that it begins to probe, and that a rollout watches",
    send: (store, signal) => store.health.readWindow(INSTANCE, ago(HOUR_MS), signal),
  },
  "health.record": { by: "health, 15 s", send: recordSameVerdicts },
  "health.listTroubles": { by: "health, 60 s", send: (store, signal) => store.health.listTroubles(INSTANCES, signal) },
  "health.listNeverCompared": {
    by: "health, 15 s for each instance that compares nothing",
    send: (store, signal) => {
      const age = { madeBefore: ago(HOUR_MS), notMovedSince: ago(HOUR_MS) };
      return store.health.listNeverCompared({ instanceId: INSTANCE, ...age, limit: 10 }, signal);
    },
  },
  "moves.list": { by: "health and planner", send: (store, signal) => store.moves.list({ isLive: true }, 1_000, signal) },
  "moves.listLive": { by: "mover, 5 s; watchdog, 30 s", send: (store, signal) => store.moves.listLive({}, signal) },
  "moves.listClusters": { by: "mover, 5 s", send: (store, signal) => store.moves.listClusters(UNITS, signal) },
  "rollouts.readLive": { by: "rollout, 60 s", send: (store, signal) => store.rollouts.readLive(signal) },
  "rollouts.listFrozen": { by: "provisioner, 60 s", send: (store, signal) => store.rollouts.listFrozen(signal) },
  "shards.listLagging": {
    by: "reconciler, 15 s",
    send: (store, signal) => store.shards.listLagging(INSTANCES, 1_000, signal),
  },
  "shards.listOwned": { by: "reconciler, 300 s for each instance", send: (store, signal) => store.shards.listOwned(INSTANCE, signal) },
  "shards.listActing": { by: "reconciler, 300 s for each instance", send: (store, signal) => store.shards.listActing(INSTANCE, signal) },
  "shards.listApplications": {
    by: "reconciler, 300 s for each instance",
    send: (store, signal) => store.shards.listApplications(INSTANCE, signal),
  },
  "shards.listEnded": {
    by: "reconciler, 300 s for each instance with orphans",
    send: (store, signal) => store.shards.listEnded(INSTANCE, ["x100" as ApplicationId], signal),
  },
  "syncRuns.listBusy": {
    by: "reconciler, 15 s",
    send: (store, signal) => store.syncRuns.listBusy(INSTANCES, 1_000, signal),
  },
  "intents.listUnpublished": {
    by: "workspace, 15 s",
    send: (store, signal) => store.intents.listUnpublished("main", PAGE, signal),
  },
  "intents.listOverdue": {
    by: "workspace, 60 s",
    send: (store, signal) => store.intents.listOverdue({ apiCluster: "main", before: now(), limit: 1_000, after: "" }, signal),
  },
  "intents.listKnown": {
    by: "workspace, 60 s",
    send: (store, signal) => store.intents.listKnown("main", SHORT_PAGE, signal),
  },
  "intents.listKnownWorkspaces": {
    by: "workspace, 60 s",
    send: (store, signal) => store.intents.listKnownWorkspaces("main", SHORT_PAGE, signal),
  },
  "intents.readKnownWorkspaces": {
    by: "workspace, for namespaces that have changed",
    send: (store, signal) => store.intents.readKnownWorkspaces("main", ["team-7"], signal),
  },
  "intents.listClasses": {
    by: "workspace, 60 s where quotas go by class",
    send: (store, signal) => store.intents.listClasses("main", signal),
    reads: {
      tables: ["workspace", "placement_unit"],
      because: "it compares the quota of each workspace with the one that it was judged by",
    },
  },
  "environments.listKnown": {
    by: "workspace, 60 s",
    send: (store, signal) => store.environments.listKnown("main", SHORT_PAGE, signal),
  },
  "environments.listWithheld": { by: "workspace, 60 s", send: (store, signal) => store.environments.listWithheld("main", signal) },
  "environments.listWithoutAccount": {
    by: "workspace, 60 s",
    send: (store, signal) =>
      store.environments.listWithoutAccount({ apiCluster: "main", environments: ENVIRONMENTS, units: UNITS }, signal),
  },
  "environments.listLeaving": { by: "workspace, 60 s", send: (store, signal) => store.environments.listLeaving("main", signal) },
  "repositoryAccess.listDue": {
    by: "workspace, 60 s",
    send: (store, signal) => store.repositoryAccess.listDue({ apiCluster: "main", before: ago(DAY_MS) }, SHORT_PAGE, signal),
  },
  "repositoryCredentials.listKnown": {
    by: "workspace, 60 s",
    send: (store, signal) => store.repositoryCredentials.listKnown("main", SHORT_PAGE, signal),
  },
  "syncRuns.listKnown": {
    by: "workspace, 60 s",
    send: (store, signal) => store.syncRuns.listKnown("main", signal),
    reads: { tables: ["sync_run"], because: "a run ends by its age, which is found by comparing every row with the runs that exist" },
  },
  "decisions.list": {
    by: "watchdog at its start; health and planner, for what was done lately",
    send: async (store, signal) => {
      await store.decisions.list({ kind: "ownership" }, 10_000, signal);
      await store.decisions.list({ kind: "health", verdict: "QUARANTINE", since: ago(DAY_MS) }, 1_000, signal);
    },
  },
  "ownership.listOwned": {
    by: "watchdog, two thousand in turn, 30 s",
    send: (store, signal) => store.ownership.listOwned({ after: "", limit: 100 }, signal),
  },
  "ownership.readOwned": {
    by: "watchdog, what has changed, 30 s",
    send: async (store, signal) => {
      const { owned } = await store.ownership.listOwned({ after: "", limit: 3 }, signal);
      const [byId, byUnit, byName] = owned;
      await store.ownership.readOwned(
        {
          applications: byId === undefined ? [] : [byId.id],
          units: byUnit === undefined ? [] : [byUnit.unitId],
          argoNames: byName === undefined ? [] : [byName.argoName],
        },
        signal,
      );
    },
  },
  "members.heartbeat": {
    by: "each process, 5 s",
    send: (store, signal) => store.members.heartbeat("m" as MemberId, ["api"], 15_000, signal),
  },
  "members.acquire": { by: "each process", send: (store, signal) => store.members.acquire("lease", "m" as MemberId, 15_000, signal) },
  "members.listLive": { by: "API", send: (store, signal) => store.members.listLive(signal) },
  "retention.forgetOperations": {
    by: "retention, hourly",
    send: (store, signal) => store.retention.forgetOperations(ago(DAY_MS), 1_000, signal),
  },
  "retention.forgetPlans": {
    by: "retention, hourly",
    send: (store, signal) => store.retention.forgetPlans(ago(30 * DAY_MS), 1_000, signal),
  },
  "retention.forgetMoves": {
    by: "retention, hourly",
    send: (store, signal) => store.retention.forgetMoves(ago(30 * DAY_MS), 1_000, signal),
  },
  "retention.forgetEnded": { by: "retention, hourly", send: (store, signal) => store.retention.forgetEnded(ago(DAY_MS), 1_000, signal) },
  "retention.forgetUsage": {
    by: "retention, hourly",
    send: (store, signal) => store.retention.forgetUsage(ago(40 * DAY_MS), 1_000, signal),
    reads: {
      tables: ["usage_label", "workspace"],
      because: "hourly: labels outlive their workspace, and nobody writes down that it has gone",
    },
  },
  "retention.forgetDecisions": {
    by: "retention, hourly",
    send: (store, signal) => store.retention.forgetDecisions({ before: ago(30 * DAY_MS), limit: 1_000, after: undefined }, signal),
  },
  "retention.forgetAudit": {
    by: "retention, hourly",
    send: (store, signal) => store.retention.forgetAudit(ago(30 * DAY_MS), 1_000, signal),
  },
  "retention.forgetCredentials": {
    by: "retention, hourly",
    send: (store, signal) => store.retention.forgetCredentials(1_000, signal),
    reads: {
      tables: ["credential", "workspace", "instance", "environment", "repository_credential"],
      because: "hourly: a credential belongs to nothing when what it belonged to has no row, which is found by asking for each",
    },
  },
};

/** Lists, and what forgets, that no timer asks for: people, commands and changes do, or what has ended. */
const ON_REQUEST = new Set([
  ...["audit.list", "credentials.list", "health.list", "operations.listOperations", "operations.listWorkspaces", "operations.listSyncs"],
  ...["operations.listDeployedKinds", "operations.listApplications", "plans.listSteps", "proposals.list", "recovery.listPlaced"],
  ...[
    "repositoryCredentials.listOfWorkspace",
    "rollouts.list",
    "tokens.list",
    "usages.list",
    "loads.listHeaviest",
    "fleet.listReleaseParts",
  ],
  ...["environments.listUsed", "shards.forgetObjects", "shards.forgetApplications", "shards.forgetWorkspace", "shards.forgetPart"],
  ...["syncRuns.forget"],
]);

/** Verdicts like those before, on all instances of a process. */
async function recordSameVerdicts(store: Store, signal: AbortSignal): Promise<void> {
  const at = now();
  const verdict = {
    at,
    since: at,
    state: "healthy",
    cause: "none",
    component: undefined,
    text: "",
    evidence: [],
    baseline: undefined,
  } as const;
  const observations = INSTANCES.map((instanceId) => ({
    sample: { at, signals: {} },
    verdict: { ...verdict, instanceId },
    keepSince: ago(HOUR_MS),
  }));
  await store.health.record(observations, signal);
}

/** A sample that brings nothing new, of all units of an instance. */
async function recordSameSample(store: Store, signal: AbortSignal): Promise<void> {
  const counted = await store.loads.countUnits(INSTANCE, signal);
  const at = now();
  const units = counted.map(({ unitId, epoch, known }) => {
    const { planning = WIDE, recent = WIDE } = known ?? {};
    return { unitId, epoch, load: { planning, recent, at }, whole: { ...planning, milliCpu: Math.ceil(planning.milliCpu) } };
  });
  await store.loads.recordSample(
    { instanceId: INSTANCE, at, total: WIDE, observation: undefined, cachedObjects: undefined, units },
    signal,
  );
}

let server: TestServer;
let client: pg.Client;
let store: Store;
/** What each statement touched in the small fleet, and touches in the large one, by method and text. */
const [small, large] = [new Map<string, Measured>(), new Map<string, Measured>()];

interface Measured {
  readonly sent: Sent;
  readonly touched: ReadonlyMap<string, Touched>;
}

async function measureAll(into: Map<string, Measured>): Promise<void> {
  for (const [method, { send }] of Object.entries(PERIODIC)) {
    const sent = await sentBy(() => send(store, AbortSignal.timeout(LONG_MS)));
    for (const [place, statement] of sent.entries()) {
      const modes = statement.name === "" ? (["force_custom_plan"] as const) : (["force_custom_plan", "force_generic_plan"] as const);
      for (const mode of modes) {
        const name = `${method}: ${statement.name || `statement ${place + 1}`} (${mode === "force_generic_plan" ? "any values" : "these values"})`;
        into.set(name, { sent: statement, touched: await touchedBy(client, statement, mode) });
      }
    }
  }
}

beforeAll(async () => {
  server = await startTestServer();
  const { url } = await server.createMigrated();
  client = new pg.Client({ connectionString: url });
  await client.connect();
  if (!IS_LONG) for (const setting of AS_IF_LARGE) await client.query(`set ${setting} = off`);
  const keyRing = createKeyRing("first", new Map([["first", new Uint8Array(32).fill(7)]]));
  store = await createPostgresStore({ url, keyRing, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 });
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
  await store?.close();
  await client?.end();
  await server.stop();
});

/** Whether a statement reads more of a fleet that is three times as large. Of blocks it may be up to twice as many: an index of two levels gets a third. */
const isMore = (before: Touched, after: Touched): boolean => after.rows > before.rows * 1.3 + 20 || after.blocks > before.blocks * 2 + 60;

describe("what is sent again and again while nothing happens", () => {
  it.each(Object.entries(PERIODIC))("%s reads no more of a larger fleet, and writes nothing of what grows with it", (method, { reads }) => {
    const found = [...large].filter(([name]) => name.startsWith(`${method}: `));
    expect(found.length).toBeGreaterThan(0);
    const faults = found.flatMap(([name, { touched }]) =>
      [...touched].flatMap(([table, after]) => {
        const before = small.get(name)?.touched.get(table) ?? { rows: 0, blocks: 0, written: 0 };
        if (!GROWING.has(table)) return [];
        const mayGrow = reads?.tables.includes(table) === true && after.rows <= (reads.atMost ?? Number.POSITIVE_INFINITY);
        return [
          ...(isMore(before, after) && !mayGrow
            ? [`${name} reads ${table}: ${before.rows} rows of ${before.blocks} blocks, then ${after.rows} of ${after.blocks}`]
            : []),
          ...(after.written > 0 ? [`${name} writes ${after.written} rows of ${table}`] : []),
        ];
      }),
    );
    expect(faults).toEqual([]);
  });

  it("is listed here, or is known not to be: whatever lists rows, and whatever forgets them", () => {
    const methods = Object.entries(store).flatMap(([part, of]) =>
      typeof of !== "object" ? [] : Object.keys(of as object).flatMap((name) => (/^(list|forget)/.test(name) ? `${part}.${name}` : [])),
    );
    expect(methods.length).toBeGreaterThan(40);
    expect(methods.filter((method) => PERIODIC[method] === undefined && !ON_REQUEST.has(method)).sort()).toEqual([]);
  });
});
