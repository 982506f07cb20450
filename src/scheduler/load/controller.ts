import type { Clock } from "../../domain/clock.ts";
import type { EnvironmentId, InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance, InstanceState } from "../../domain/instance.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue } from "../../runtime/keyed-queue.ts";
import { every } from "../../runtime/timer/every.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { FIRST_WEIGHTS } from "./cpu-weights.ts";
import { createEntryWatch } from "./keep-entries-within-budget.ts";
import { type PageSums, parseLoadPage } from "./metrics-page.ts";
import type { ReadInstancePages } from "./port.ts";
import { type PageAt, type PagesAt, ratesOf } from "./rates.ts";
import { recordUsage } from "./record-usage.ts";
import { signalsOf, takeSample } from "./take-sample.ts";

export interface SamplerDeps {
  readonly store: Pick<Store, "fleet" | "loads" | "usages" | "environments" | "decisions">;
  readonly readPages: ReadInstancePages;
  /** The label by which a unit's applications are told apart in an instance's metrics. */
  readonly projectsOf: (unit: UnitId) => readonly string[];
  /** The environment whose cluster entry has this server; `undefined` for the entry all units share. */
  readonly environmentOf: (server: string) => EnvironmentId | undefined;
  /** How often canaries of an instance are asked to be compared, a minute; 0: there are none. */
  readonly canariesPerMinute: number;
  /** Time between two samples of an instance. */
  readonly periodMs: number;
  /** By `load/<instance id>`. */
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Sampler {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  idle(): Promise<void>;
}

const READ_MS = 30_000;
const AT_ONCE = 4;
const MEASURED: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

/**
 * Measures the load of every instance of this process's share, and deals it, and all that the instance took, to the units that it holds. Environments that take more
 * of an instance's memory than they may are withheld from it.
 */
export function createSampler(deps: SamplerDeps): Sampler {
  const { store, partition, clock, rng, log } = deps;
  const ending = new AbortController();
  const pages = new Map<string, PagesAt>();
  const entries = createEntryWatch(deps);
  let serving = new Map<string, Instance>();
  const survey = async (signal: AbortSignal): Promise<void> => {
    const mine = (await store.fleet.listInstances(signal)).filter(
      ({ id, state }) => MEASURED.includes(state) && partition.isMine(`load/${id}`),
    );
    serving = new Map(mine.map((instance) => [instance.id, instance]));
    for (const id of pages.keys()) if (!serving.has(id)) pages.delete(id);
    entries.keepOnly(serving);
    for (const id of serving.keys()) samples.add(id);
  };
  const sampleOne = async (id: string, signal: AbortSignal): Promise<void> => {
    const instance = serving.get(id);
    if (instance === undefined) return;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
    const seen = await readAll(deps, instance, limit);
    const sums = [...seen.values()].find((page) => page.of === "controller")?.sums;
    if (sums === undefined) return;
    const rates = ratesOf(pages.get(id), seen);
    pages.set(id, seen);
    await record(deps, instance, { rates, controller: sums, pages: seen }, signal);
    await entries.see(instance, sums, signal);
  };
  const queueOf = (name: string, concurrency: number, work: (key: string, signal: AbortSignal) => Promise<void>) =>
    createKeyedQueue({ ...deps, name, concurrency, rng: rng.fork(name), work });
  const samples = queueOf("load-samples", AT_ONCE, sampleOne);
  const surveys = queueOf("load-survey", 1, (_key, signal) => survey(signal));
  const surveySoon = (): void => surveys.add("instances");
  const stop = async (): Promise<void> => {
    ending.abort(new Error("the sampler stops"));
    await Promise.all([surveys.stop(), samples.stop()]);
  };
  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      every({ clock, rng, log, ms: deps.periodMs, jitter: 0.1, run: surveySoon }, ending.signal);
      surveys.start();
      samples.start();
      surveySoon();
    },
    stop,
    idle: async () => void (await surveys.idle().then(() => samples.idle())),
  };
}

/** A page that cannot be read or believed counts as missing: the last known load ages until plans no longer trust it. */
async function readAll({ readPages, clock, log }: SamplerDeps, instance: Instance, signal: AbortSignal): Promise<PagesAt> {
  const seen = new Map<string, PageAt>();
  try {
    for await (const { of, pod, lines } of readPages(instance, signal)) {
      const page = parseLoadPage();
      seen.set(pod, { of, sums: undefined, atMs: clock.monotonicMs() });
      for await (const line of lines) if (!page.take(line)) break;
      const end = page.end();
      if (end.kind === "page") seen.set(pod, { of, sums: end.sums, atMs: clock.monotonicMs() });
      else log.warn({ instance: instance.name, pod, rule: end.rule }, "Ignoring impossible metrics of an instance");
    }
  } catch (error) {
    log.debug({ error, instance: instance.name }, "Reading an instance's metrics");
  }
  return seen;
}

interface Seen {
  readonly rates: ReturnType<typeof ratesOf>;
  readonly controller: PageSums;
  readonly pages: PagesAt;
}

async function record(deps: SamplerDeps, instance: Instance, { rates, controller, pages }: Seen, signal: AbortSignal): Promise<void> {
  const { store, projectsOf, environmentOf, clock } = deps;
  const { weights = FIRST_WEIGHTS } = await store.loads.readState(instance.class, signal);
  const at = clock.now();
  const counted = await store.loads.countUnits(instance.id as InstanceId, signal);
  const units = counted.map((unit) => ({ ...unit, unit: unit.unitId, projects: projectsOf(unit.unitId) }));
  const sample = takeSample({ at, units, rates, environmentOf, weights });
  await store.loads.recordSample({ instanceId: instance.id, at, cachedObjects: controller.cachedObjects, ...sample }, signal);
  const signals = signalsOf(rates, environmentOf);
  await recordUsage(deps, { instance, pages, controller, counted, units, signals, weights, at }, signal);
}
