import type { FleetSpec } from "../domain/fleet.ts";
import { type InstanceVerdict, VERDICT_STATES } from "../domain/health.ts";
import type { Instance, InstanceState } from "../domain/instance.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import { createKeyedQueue } from "../runtime/keyed-queue.ts";
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
  /** By `health/<instance id>`. */
  readonly partition: Partition;
  readonly restartApartMs: number;
  readonly emptyAfter: number;
  readonly empty: EmptyInstance;
  readonly placeElsewhere: PlaceElsewhere;
  /** Absent: nobody is given an instance of its own without a person. */
  readonly quarantine?: { readonly most: number; readonly requests: QuarantineRequests } | undefined;
  readonly rng: Rng;
  readonly metrics: Metrics;
}

export interface Health {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  /** Looks once at every instance of this process's share, one after the other. */
  probeAll(signal: AbortSignal): Promise<void>;
}

const AT_ONCE = 16;
const JUDGED: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

/** What a survey has found of this process's share. */
interface Survey {
  readonly fleet: FleetSpec | undefined;
  /** All instances that are judged, those of other processes too. */
  readonly serving: ReadonlyMap<string, Instance>;
  /** Quarantines of this process's share that have begun and not ended, by key. */
  readonly open: ReadonlyMap<string, Quarantine>;
}

/**
 * Observes every instance again and again, judges it by what was seen lately, and helps where a verdict asks for it. A survey adds the
 * keys: ids of instances, and `quarantine/<id of its source>` for each open quarantine.
 */
export function createHealth(deps: HealthDeps): Health {
  const { store, partition, rng, metrics, periodMs, quarantine } = deps;
  const observations = createProbes(deps);
  const quarantines = quarantine && createQuarantines({ ...deps, ...quarantine });
  const remedies = createRemedies({ ...deps, quarantines });
  const placingAgain = createPlacingAgain(deps);
  let survey: Survey = { fleet: undefined, serving: new Map(), open: new Map() };
  const verdicts = new Map<string, InstanceVerdict>();
  const gauge = metrics.gauge("argosy_health_instances", "Instances of this process's share, by their verdict.", ["state"]);
  gauge.collect(() => {
    const states = [...verdicts.values()].map(({ state }) => state);
    return VERDICT_STATES.map((state) => ({ value: states.filter((each) => each === state).length, labels: { state } }));
  });
  const isMine = (id: string): boolean => partition.isMine(`health/${id}`);

  async function takeSurvey(signal: AbortSignal): Promise<readonly string[]> {
    const fleet = (await store.fleet.readFleet(signal))?.spec;
    // One whose controller was stopped for good is not to be told of, and even less to be started again.
    const judged = (await store.fleet.listInstances(signal)).filter(({ state, halt }) => JUDGED.includes(state) && halt === "none");
    const mine = judged.map(({ id }): string => id).filter(isMine);
    observations.keep(mine);
    for (const id of verdicts.keys()) if (!mine.includes(id)) verdicts.delete(id);
    const begun = ((await quarantines?.listOpen(signal)) ?? []).filter(({ source }) => isMine(source));
    survey = {
      fleet,
      serving: new Map(judged.map((instance) => [instance.id, instance])),
      open: new Map(begun.map((one) => [`quarantine/${one.source}`, one])),
    };
    return [...mine, ...survey.open.keys()];
  }

  async function work(key: string, signal: AbortSignal): Promise<void> {
    const { fleet, serving, open } = survey;
    const begun = open.get(key);
    if (begun !== undefined) await quarantines?.carryOn(begun, signal);
    const instance = serving.get(key);
    if (instance === undefined) return;
    const verdict = await observations.probeInstance(instance, fleet, signal);
    verdicts.set(key, verdict);
    await remedies.help({ instance, verdict, serving: [...serving.values()] }, signal);
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
    sweeps: { instances: { everyMs: periodMs, jitter: 0.05, run: surveyAndAdd } },
  });
  const controller = createResourceController({
    name: "health",
    watches: [],
    otherWatches: [],
    partition,
    sweeps,
    loops: [queue],
    subscribe: () => [],
    // The next survey comes within a period.
    takeOver: () => {},
  });
  return {
    start: controller.start,
    stop: controller.stop,
    async probeAll(signal) {
      for (const key of await takeSurvey(signal)) await work(key, signal);
    },
  };
}
