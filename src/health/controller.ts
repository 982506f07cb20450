import type { FleetSpec } from "../domain/fleet.ts";
import { type InstanceVerdict, VERDICT_STATES } from "../domain/health.ts";
import type { Instance, InstanceState } from "../domain/instance.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import { createKeyedQueue } from "../runtime/keyed-queue.ts";
import { every } from "../runtime/timer/every.ts";
import type { Store } from "../store/port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createLooks, type LookDeps } from "./look/controller.ts";
import { createPlacingAgain } from "./placing-again/controller.ts";
import type { EmptyInstance, PlaceElsewhere, QuarantineDesk } from "./port.ts";
import { createQuarantines, type QuarantineDeps } from "./quarantine/controller.ts";
import type { Quarantine } from "./quarantine/entries.ts";
import { createRemedies } from "./remedy/controller.ts";

export interface HealthDeps extends LookDeps {
  readonly store: Pick<Store, "fleet" | "health" | "decisions" | "loads"> & QuarantineDeps["store"];
  /** By `health/<instance id>`. */
  readonly partition: Partition;
  readonly restartApartMs: number;
  readonly emptyAfter: number;
  readonly empty: EmptyInstance;
  readonly placeElsewhere: PlaceElsewhere;
  /** Absent: nobody is given an instance of its own without a person. */
  readonly quarantine?: { readonly most: number; readonly desk: QuarantineDesk } | undefined;
  readonly rng: Rng;
  readonly metrics: Metrics;
}

export interface Health {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  /** Looks once at every instance of this process's share, one after the other. */
  lookAtAll(signal: AbortSignal): Promise<void>;
}

const AT_ONCE = 16;
const JUDGED: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

/** Looks at every instance again and again, judges it by what was seen lately, and helps where a judgement asks for it. */
export function createHealth(deps: HealthDeps): Health {
  const { store, partition, clock, rng, log, metrics, periodMs, quarantine } = deps;
  const quarantines = quarantine && createQuarantines({ ...deps, ...quarantine });
  const [looks, remedies, placingAgain] = [createLooks(deps), createRemedies({ ...deps, quarantines }), createPlacingAgain(deps)];
  const said = new Map<string, InstanceVerdict>();
  let [serving, fleet]: [ReadonlyMap<string, Instance>, FleetSpec | undefined] = [new Map(), undefined];
  let open: ReadonlyMap<string, Quarantine> = new Map();
  const gauge = metrics.gauge("argosy_health_instances", "Instances of this process's share, by their verdict.", ["state"]);
  gauge.collect(() => {
    const states = [...said.values()].map(({ state }) => state);
    return VERDICT_STATES.map((state) => ({ value: states.filter((each) => each === state).length, labels: { state } }));
  });

  const survey = async (signal: AbortSignal): Promise<readonly string[]> => {
    fleet = (await store.fleet.readFleet(signal))?.spec;
    // One whose controller was stopped for good is not to be told of, and even less to be started again.
    const all = (await store.fleet.listInstances(signal)).filter(({ state, halt }) => JUDGED.includes(state) && halt === "none");
    serving = new Map(all.map((instance) => [instance.id, instance]));
    const mine = all.map(({ id }): string => id).filter((id) => partition.isMine(`health/${id}`));
    looks.keep(mine);
    for (const id of said.keys()) if (!mine.includes(id)) said.delete(id);
    const begun = ((await quarantines?.listOpen(signal)) ?? []).filter(({ source }) => partition.isMine(`health/${source}`));
    open = new Map(begun.map((one) => [`quarantine/${one.source}`, one]));
    return [...mine, ...open.keys()];
  };
  const work = async (id: string, signal: AbortSignal): Promise<void> => {
    const [instance, begun] = [serving.get(id), open.get(id)];
    if (begun !== undefined) await quarantines?.carryOn(begun, signal);
    if (instance === undefined) return;
    const verdict = await looks.lookAt(instance, fleet, signal);
    said.set(id, verdict);
    await remedies.help({ instance, verdict, serving: [...serving.values()] }, signal);
    await placingAgain.look(instance, verdict, signal);
  };

  const queue = createKeyedQueue({ ...deps, name: "health", concurrency: AT_ONCE, rng: rng.fork("health"), work });
  const surveys = createKeyedQueue({
    ...{ ...deps, name: "health-survey", concurrency: 1, rng: rng.fork("health-survey") },
    work: async (_key, signal) => {
      for (const id of await survey(signal)) queue.add(id);
    },
  });
  const ending = new AbortController();
  const stop = async (): Promise<void> => {
    ending.abort(new Error("health stops"));
    await Promise.all([surveys.stop(), queue.stop()]);
  };
  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      every({ clock, rng, log, ms: periodMs, jitter: 0.05, run: () => surveys.add("instances") }, ending.signal);
      surveys.start();
      queue.start();
      surveys.add("instances");
    },
    stop,
    async lookAtAll(signal) {
      for (const id of await survey(signal)) await work(id, signal);
    },
  };
}
