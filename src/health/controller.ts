import type { FleetSpec } from "../domain/fleet.ts";
import { type InstanceVerdict, VERDICT_STATES } from "../domain/health.ts";
import type { Instance, InstanceState } from "../domain/instance.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../runtime/keyed-queue.ts";
import { createResourceController } from "../runtime/resource-controller/resource-controller.ts";
import { createSweeps } from "../runtime/resource-controller/sweeps.ts";
import type { Store } from "../store/port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createRemedies } from "./carry-out-remedy.ts";
import type { EmptyInstance, PlaceElsewhere, QuarantineRequests } from "./port.ts";
import { createQuarantines, type QuarantineDeps } from "./quarantine/carry-out-quarantine.ts";
import type { Quarantine } from "./quarantine/entries.ts";
import { createProbes, type ProbeDeps } from "./record-verdict.ts";
import { createPlacingAgain } from "./request-placing-again.ts";

export interface HealthDeps extends ProbeDeps {
  readonly store: Pick<Store, "fleet" | "health" | "decisions" | "loads"> & QuarantineDeps["store"];
  /** Keys are `health/<instance id>`. */
  readonly partition: Partition;
  readonly restartApartMs: number;
  readonly emptyAfter: number;
  readonly empty: EmptyInstance;
  readonly placeElsewhere: PlaceElsewhere;
  /** Absent: no workspace gets an instance of its own without a person. */
  readonly quarantine?: { readonly most: number; readonly requests: QuarantineRequests } | undefined;
  readonly rng: Rng;
  readonly metrics: Metrics;
}

export interface Health {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  /** Probes every instance of this process's share that is due, one after the other, and records what was observed. */
  probeAll(signal: AbortSignal): Promise<void>;
}

const AT_ONCE = 16;
/**
 * How often the repo-servers of an instance are observed that was short of their memory lately, in ms. A fetch that is killed for taking
 * too much may last for two seconds only: a large file comes at once from a host near by.
 */
const CLOSER_MS = 1_500;
const JUDGED: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

/** Whether what an instance's repo-servers are doing has to be known when one of them ends, which no probe may see. */
function isWatchedCloser(verdict: InstanceVerdict | undefined): boolean {
  return verdict?.cause === "memory" && verdict.component === "repo-server";
}

/** What the latest survey found for this process's share. */
interface Survey {
  readonly fleet: FleetSpec | undefined;
  /** All instances that are judged, also those of other processes. */
  readonly serving: ReadonlyMap<string, Instance>;
  /** Open quarantines of this process's share, by key. */
  readonly open: ReadonlyMap<string, Quarantine>;
}

/**
 * Probes every instance again and again, those at rest less often, judges it by its latest samples, and takes the remedy that its verdict calls
 * for. A survey adds the keys: the ids of instances, and `quarantine/<id of the source instance>` for each open
 * quarantine.
 */
export function createHealth(deps: HealthDeps): Health {
  const { store, partition, rng, metrics, periodMs, quarantine } = deps;
  const probes = createProbes(deps);
  const quarantines = quarantine && createQuarantines({ ...deps, ...quarantine });
  const remedies = createRemedies({ ...deps, quarantines });
  const placingAgain = createPlacingAgain(deps);
  let survey: Survey = { fleet: undefined, serving: new Map(), open: new Map() };
  const verdicts = new Map<string, InstanceVerdict>();
  /** Instances that a survey asked to probe. What else asks for their key wants their repo-servers observed. */
  const due = new Set<string>();
  const gauge = metrics.gauge("argosy_health_instances", "Instances of this process's share, by their verdict.", ["state"]);
  gauge.collect(() => {
    const states = [...verdicts.values()].map(({ state }) => state);
    return VERDICT_STATES.map((state) => ({ value: states.filter((each) => each === state).length, labels: { state } }));
  });
  const isMine = (id: string): boolean => partition.isMine(`health/${id}`);

  async function takeSurvey(signal: AbortSignal): Promise<readonly string[]> {
    const fleet = (await store.fleet.readFleet(signal))?.spec;
    // An instance whose controller was stopped on purpose is not judged: a verdict on it would be noise, and a
    // restart would start it again.
    const judged = (await store.fleet.listInstances(signal)).filter(({ state, halt }) => JUDGED.includes(state) && halt === "none");
    const mine = judged.map(({ id }) => id).filter(isMine);
    await probes.keep(mine, signal);
    const kept = new Set<string>(mine);
    for (const id of verdicts.keys()) if (!kept.has(id)) verdicts.delete(id);
    const begun = ((await quarantines?.listOpen(signal)) ?? []).filter(({ source }) => isMine(source));
    survey = {
      fleet,
      serving: new Map(judged.map((instance) => [instance.id, instance])),
      open: new Map(begun.map((one) => [`quarantine/${one.source}`, one])),
    };
    const probed = mine.filter(probes.isDue);
    for (const id of probed) due.add(id);
    return [...probed, ...survey.open.keys()];
  }

  async function work(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const begun = survey.open.get(key);
    if (begun !== undefined) await quarantines?.carryOn(begun, signal);
    const instance = survey.serving.get(key);
    if (instance === undefined || !isMine(key)) return;
    if (!due.has(key)) await probes.observeRepoServers(instance, signal);
    else {
      await probe(instance, signal);
      // Only now: one that fails is tried again.
      due.delete(key);
    }
    if (isWatchedCloser(verdicts.get(key))) return { requeueAfterMs: CLOSER_MS };
  }

  async function probe(instance: Instance, signal: AbortSignal): Promise<void> {
    const { fleet, serving } = survey;
    const verdict = await probes.probeInstance(instance, fleet, signal);
    verdicts.set(instance.id, verdict);
    const pool = fleet?.pools.find(({ name }) => name === instance.pool);
    const judged = { instance, verdict, pool, serving: [...serving.values()], repositories: probes.takenOf(instance.id) };
    await remedies.help(judged, signal);
    await placingAgain.probe(instance, verdict, signal);
  }

  const queue = createKeyedQueue({ ...deps, name: "health", concurrency: AT_ONCE, rng: rng.fork("health"), work });
  const surveyAndAdd = async (signal: AbortSignal): Promise<void> => {
    for (const key of await takeSurvey(signal)) queue.add(key);
  };
  const sweeps = createSweeps({
    ...deps,
    name: "health-survey",
    rng: rng.fork("health-survey"),
    first: ["instances"],
    next: [],
    sweeps: {
      instances: { everyMs: periodMs, jitter: 0.05, run: surveyAndAdd },
      // What has changed was recorded at once.
      records: { everyMs: periodMs, run: probes.record },
    },
  });
  const controller = createResourceController({
    name: "health",
    watches: [],
    otherWatches: [],
    partition,
    sweeps,
    loops: [queue],
    subscribe: () => [],
    // Nothing to do: the next survey comes within one period.
    takeOver: () => {},
  });
  return {
    start: controller.start,
    stop: controller.stop,
    async probeAll(signal) {
      for (const key of await takeSurvey(signal)) await work(key, signal);
      await probes.record(signal);
    },
  };
}
