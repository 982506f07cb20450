import { type Millis, millis } from "../../src/domain/clock.ts";
import type { RecordedStatus } from "../../src/domain/status.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { migrate } from "../../src/store/adapters/postgres/migrate.ts";
import { createPostgresStore } from "../../src/store/adapters/postgres/postgres-store.ts";
import type { Store } from "../../src/store/port.ts";
import { aDecision, anEngineStatus, anInstance, anIntent, aStatus, WIDE } from "../../src/store/testing/builders.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";
import type { Figure } from "../figures.ts";
import { openStatusCeiling, type StatusCeiling } from "../limits/status-ceiling.ts";
import type { Bench, Measure } from "../measure.ts";
import { median, noiseOf } from "../statistics.ts";
import { queryOnce } from "../world/query-once.ts";

const ROWS = 2_000;
const WORKSPACES = 20;
/** How large batches of statuses become under load. */
const BATCH = 500;
const ROUNDS = 12;
/** Rounds that do not count: tables are new and statements are not prepared yet. */
const WARM_UP = 2;
const SIZES = [
  ["tiny", 1],
  ["of 50 resources", 50],
] as const;

/** The store's own way to write statuses and the fastest way, in turns, in their own database. */
export const statusRows: Measure = {
  name: "P3",
  about: "rows a second by the status path; limit: an upsert with unnest() that does nothing else",
  engines: ["scripted", "argo-cd"],
  isSizeless: true,
  async run({ world, signal }) {
    const url = await createDatabase(world.databaseUrl);
    await migrate({ url, log: silentLog, signal });
    const store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 4 });
    const ceiling = await openStatusCeiling(url);
    try {
      const candidates = await deployApplications(store, signal);
      const figures: Figure[] = [];
      for (const [what, resources] of SIZES) figures.push(await compare({ store, ceiling, candidates, what, resources, signal }));
      return figures;
    } finally {
      await ceiling.close();
      await store.close();
    }
  },
};

type Candidate = Pick<RecordedStatus, "applicationId" | "instanceId" | "epoch">;

interface Comparison {
  readonly store: Store;
  readonly ceiling: StatusCeiling;
  readonly candidates: readonly Candidate[];
  readonly what: string;
  readonly resources: number;
  readonly signal: Bench["signal"];
}

async function compare({ store, ceiling, candidates, what, resources, signal }: Comparison): Promise<Figure> {
  const [ours, limits]: [number[], number[]] = [[], []];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const batches = batchesOf(candidates, `${what} ${round}`, resources);
    const ourRate = await rateOf(batches, (batch) => store.statuses.recordStatuses(batch, signal));
    const limit = await rateOf(batches, (batch) => ceiling.write(batch));
    if (round < WARM_UP) continue;
    ours.push(ourRate);
    limits.push(limit);
  }
  return {
    ...{ measure: "P3", what: `rows by the status path, ${what}`, unit: "/s", better: "higher", value: median(ours), samples: ROUNDS },
    noise: noiseOf(ours.map((rate, index) => rate / (limits[index] ?? Number.NaN))),
    limit: { what: "unnest()", value: median(limits) },
    goal: { of: "ratio", sense: "at least", bound: 0.8 },
  };
}

async function rateOf(
  batches: readonly (readonly RecordedStatus[])[],
  write: (batch: readonly RecordedStatus[]) => Promise<unknown>,
): Promise<number> {
  const startedAt = performance.now();
  for (const batch of batches) await write(batch);
  return (1000 * batches.flat().length) / (performance.now() - startedAt);
}

/** Statuses that all differ from the ones before, sorted by key. */
function batchesOf(candidates: readonly Candidate[], round: string, resources: number): readonly (readonly RecordedStatus[])[] {
  const [one] = anEngineStatus().resources;
  if (one === undefined) throw new Error("the example has no resource");
  const status = anEngineStatus({
    resources: Array.from({ length: resources }, (_, index) => ({ ...one, name: `${one.name}-${index}` })),
    resourceCount: resources,
  });
  const at = millis(Date.now()) as Millis;
  const statuses = candidates.map((candidate) => aStatus(candidate, { hash: `hash of ${round}`, status, reconciledAt: at }));
  return Array.from({ length: Math.ceil(statuses.length / BATCH) }, (_, index) => statuses.slice(index * BATCH, (index + 1) * BATCH));
}

async function deployApplications(store: Store, signal: AbortSignal): Promise<readonly Candidate[]> {
  const instance = anInstance();
  await store.fleet.insertInstance(instance, aDecision({ subject: instance.id, kind: "instance" }), signal);
  const candidates: Candidate[] = [];
  for (let workspace = 0; workspace < WORKSPACES; workspace += 1) {
    const intents = Array.from({ length: ROWS / WORKSPACES }, () => anIntent({ namespace: `rows-${workspace}` }));
    const [first, ...rest] = await store.intents.recordDeployments(intents, signal);
    if (first === undefined) throw new Error("nothing was recorded");
    const [found] = await store.shards.readApplications([first.applicationId], signal);
    if (found === undefined) throw new Error("what was recorded is not there");
    const { id: unitId, rowVersion } = found.unit;
    const placement = { unitId, rowVersion, instanceId: instance.id, ceiling: WIDE, decision: aDecision({ subject: unitId }) };
    const outcome = await store.placements.commitFirstPlacement(placement, signal);
    if (outcome.kind !== "placed") throw new Error(`a unit was not placed: ${outcome.kind}`);
    const { epoch } = outcome;
    candidates.push(...[first, ...rest].map(({ applicationId }) => ({ applicationId, instanceId: instance.id, epoch })));
  }
  return candidates.toSorted((a, b) => (a.applicationId < b.applicationId ? -1 : 1));
}

async function createDatabase(url: string): Promise<string> {
  await queryOnce(url, "create database bench_rows");
  return Object.assign(new URL(url), { pathname: "/bench_rows" }).href;
}
