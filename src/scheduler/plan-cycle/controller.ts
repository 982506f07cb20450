import type { InstanceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../../runtime/keyed-queue.ts";
import type { startCron } from "../../runtime/timer/cron.ts";
import { every } from "../../runtime/timer/every.ts";
import type { Store } from "../../store/port.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { SCHEDULER } from "../plan/stored-plan.ts";
import { createRingMemo } from "../ring-memo.ts";
import { type ClassPlanDeps, refreshPlan } from "./refresh-plan.ts";
import { watchFreezes } from "./watch-freezes.ts";

export interface PlanCycleDeps extends Omit<ClassPlanDeps, "store" | "proposed" | "promised"> {
  readonly store: ClassPlanDeps["store"] & Pick<Store, "fleet" | "directives" | "changes">;
  /** Calls when a freeze begins, in the machine's time. Absent, as in simulated time: the next cycle sees that one began or ended. */
  readonly startCron?: typeof startCron;
  /** By `plan/<class>`. */
  readonly partition: Partition;
  readonly rng: Rng;
  readonly metrics: Metrics;
}

export interface PlanCycle {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  idle(): Promise<void>;
}

/** As often as instances are measured. An overload is believed with the second measurement that shows it. */
const CYCLE_MS = 120_000;
/** Verdicts that have one cause change together: those that change within this time lead to one plan. In ms. */
const VERDICT_MS = 1_000;

/**
 * Plans for each class of this process's share: every two minutes, when a freeze begins or ends, and when the verdict on one of its instances
 * changes. The units of an instance that was stopped are sent away at once.
 */
export function createPlanCycle(deps: PlanCycleDeps): PlanCycle {
  const { store, partition, clock, rng, log } = deps;
  const ending = new AbortController();
  const ringsOf = createRingMemo();
  const proposed = deps.metrics.counter("argosy_scheduler_plans_total", "Plans the scheduler has proposed, by class.", ["class"]);
  const promised = deps.metrics.counter(
    "argosy_scheduler_promises_total",
    "What moves that the scheduler made by itself were to take from an instance, by class and how it came out.",
    ["class", "verdict"],
  );
  const queueOf = (name: string, work: (key: string, signal: AbortSignal) => Promise<WorkResult | void>) =>
    createKeyedQueue({ ...deps, name, concurrency: 1, rng: rng.fork(name), work });

  const classes = queueOf("plan-classes", (name, signal) => refreshPlan({ ...deps, proposed, promised }, name, ringsOf(name), signal));
  const surveys = queueOf("plan-survey", async (_key, signal) => {
    freezes.follow(await store.directives.listFreezes(signal));
    for (const name of await store.plans.listClasses(signal)) if (partition.isMine(`plan/${name}`)) classes.add(name);
  });
  const surveySoon = (): void => surveys.add("classes");
  const freezes = watchFreezes({ ...deps, onChange: surveySoon }, ending.signal);

  const mine = async (id: string, signal: AbortSignal) => {
    const instance = await store.fleet.readInstance(id as InstanceId, signal);
    return instance !== undefined && partition.isMine(`plan/${instance.class}`) ? instance : undefined;
  };
  /** An overload does not wait for the next cycle, and neither do moves that a verdict held up until it ended. */
  const judged = queueOf("judged-instances", async (id, signal) => {
    const instance = await mine(id, signal);
    if (instance !== undefined) classes.add(instance.class, { afterMs: VERDICT_MS });
  });
  /** Units of a stopped instance have no controller that works for them, so they do not wait for the next cycle. */
  const stopped = queueOf("stopped-instances", async (id, signal) => {
    const instance = await mine(id, signal);
    if (instance?.state === "DRAINING" && instance.halt === "seen") await deps.draining.carryOn(instance, SCHEDULER, signal);
  });
  const queues = [surveys, classes, judged, stopped];

  let unfollow = (): void => undefined;
  const stop = async (): Promise<void> => {
    ending.abort(new Error("planning stops"));
    unfollow();
    await Promise.all(queues.map((queue) => queue.stop()));
  };
  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      every({ clock, rng, log, ms: CYCLE_MS, jitter: 0.1, run: surveySoon }, ending.signal);
      queues.forEach((queue) => queue.start());
      unfollow = store.changes.subscribe((notifications) => {
        // The next cycle sees what was missed.
        if (notifications === "missed") return;
        for (const { kind, id } of notifications) {
          if (kind === "instance") stopped.add(id);
          if (kind === "verdict") judged.add(id);
        }
      });
      surveySoon();
    },
    stop,
    idle: async () => void (await surveys.idle().then(() => classes.idle())),
  };
}
