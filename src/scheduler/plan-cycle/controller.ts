import type { Clock } from "../../domain/clock.ts";
import { millis } from "../../domain/clock.ts";
import type { Ids, InstanceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue } from "../../runtime/keyed-queue.ts";
import type { startCron } from "../../runtime/timer/cron.ts";
import { every } from "../../runtime/timer/every.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { DrainingDesk } from "../draining/controller.ts";
import { relievedBy, unrelieved, withVerdicts } from "../load/next-overloaded.ts";
import { assembleSnapshot } from "../plan/assemble.ts";
import { makePlan } from "../plan/make-plan.ts";
import { nextClassState } from "../plan/next-class-state.ts";
import { proposalOf, proposedOf, SCHEDULER, storedPlanOf } from "../plan/stored-plan.ts";
import type { PlanningDeps, PlanningDesk } from "../planning/controller.ts";
import { createRingMemo } from "../ring-memo.ts";
import { splitLarge } from "../split/controller.ts";
import { watchFreezes } from "./watch-freezes.ts";

export interface PlanCycleDeps extends Pick<PlanningDeps, "approval"> {
  readonly store: Pick<Store, "plans" | "loads" | "splits" | "fleet" | "health" | "directives" | "changes">;
  readonly draining: Pick<DrainingDesk, "carryOn">;
  readonly planning: Pick<PlanningDesk, "apply" | "followUp">;
  /** Whether what relieves an instance that its health says is overloaded is carried out without a person. */
  readonly relieves: boolean;
  /** Calls when a freeze begins, in the machine's time. Absent, as in simulated time: the next cycle sees that one began or ended. */
  readonly startCron?: typeof startCron;
  /** By `plan/<class>`. */
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface PlanCycle {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  idle(): Promise<void>;
}

/** As often as instances are measured: an overload opens its gate with the second measurement that shows it. */
const CYCLE_MS = 120_000;
/** Verdicts of one cause change together: what changed within this is planned for once. */
const VERDICT_MS = 1_000;
const DAY_MS = 24 * 60 * 60_000;
const PLANS_LOOKED_AT = 20;

/**
 * Looks at each class again and again, remembers since when what was too full, splits what is too large, and proposes what should move.
 * It carries out by itself what has not left yet that a person ordered to be emptied, what relieves an overloaded instance, and the rest of exchanges.
 */
export function createPlanCycle(deps: PlanCycleDeps): PlanCycle {
  const { store, draining, planning, partition, clock, rng, ids, log } = deps;
  const ending = new AbortController();
  const ringsOf = createRingMemo();
  const proposed = deps.metrics.counter("argosy_scheduler_plans_total", "Plans the scheduler has proposed, by class.", ["class"]);
  const survey = async (signal: AbortSignal): Promise<void> => {
    freezes.follow(await store.directives.listFreezes(signal));
    for (const name of await store.plans.listClasses(signal)) if (partition.isMine(`plan/${name}`)) classes.add(name);
  };
  const plan = async (name: string, signal: AbortSignal): Promise<void> => {
    await planning.followUp(name, SCHEDULER, signal);
    const at = clock.now();
    const read = () => store.plans.readFacts(name, millis(at - DAY_MS), signal);
    const before = await read();
    const leaving = before.instances.filter(({ state }) => state === "DRAINING");
    for (const instance of leaving) await draining.carryOn(instance, SCHEDULER, signal);
    // What is on its way by now is not proposed once more.
    const seen = leaving.length === 0 ? before : await read();
    const next = nextClassState(seen, assembleSnapshot(seen, at));
    const verdicts = unrelieved(await store.health.listVerdicts(signal), seen, at);
    const state = { ...next, overloadedSince: withVerdicts(next.overloadedSince, verdicts) };
    await store.loads.recordState(name, state as typeof seen.state, signal);
    await splitLarge(deps, seen, at, signal);
    const made = makePlan({ ...seen, state }, { kind: "rebalance" }, { at, ringOf: ringsOf(name), approval: deps.approval });
    if (made.plan.moves.every(({ from }) => from === undefined)) return;
    const fresh = storedPlanOf(made, { id: ids.next(), goal: "rebalance", subject: "", actor: SCHEDULER, at });
    const standing = proposedOf(await store.plans.list({ class: name }, PLANS_LOOKED_AT, signal), fresh);
    if (standing === undefined) {
      await store.plans.record(fresh, proposalOf(fresh), signal);
      proposed.add(1, { class: name });
      log.info({ plan: fresh.id, class: name, moves: fresh.moves.length }, "Proposing a plan, `argosy explain` tells why");
    }
    if (!deps.relieves) return;
    // Others that it moves wait for a person; an overload that lasts until one comes is what all this is there to prevent.
    for (const only of relievedBy(fresh, verdicts)) await planning.apply((standing ?? fresh).id, { actor: SCHEDULER, only }, signal);
  };
  const queueOf = (name: string, work: (key: string, signal: AbortSignal) => Promise<void>) =>
    createKeyedQueue({ ...deps, name, concurrency: 1, rng: rng.fork(name), work });
  const classes = queueOf("plan-classes", plan);
  const surveys = queueOf("plan-survey", (_key, signal) => survey(signal));
  const surveySoon = (): void => surveys.add("classes");
  const freezes = watchFreezes({ ...deps, onTurn: surveySoon }, ending.signal);
  /** Units of an instance that was stopped have nobody who works for them: these do not wait for the next cycle. */
  const carryOnStopped = async (id: string, signal: AbortSignal): Promise<void> => {
    const instance = await store.fleet.readInstance(id as InstanceId, signal);
    if (instance?.state !== "DRAINING" || instance.halt !== "seen" || !partition.isMine(`plan/${instance.class}`)) return;
    await draining.carryOn(instance, SCHEDULER, signal);
  };
  const stopped = queueOf("stopped-instances", carryOnStopped);
  /** An overload does not wait for the next cycle, and neither does what a verdict that has ended held up. */
  const planFor = async (id: string, signal: AbortSignal): Promise<void> => {
    const instance = await store.fleet.readInstance(id as InstanceId, signal);
    if (instance !== undefined && partition.isMine(`plan/${instance.class}`)) classes.add(instance.class);
  };
  const judged = queueOf("judged-instances", planFor);
  let unfollow = (): void => undefined;
  const stop = async (): Promise<void> => {
    ending.abort(new Error("planning stops"));
    unfollow();
    await Promise.all([surveys.stop(), classes.stop(), stopped.stop(), judged.stop()]);
  };
  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      every({ clock, rng, log, ms: CYCLE_MS, jitter: 0.1, run: surveySoon }, ending.signal);
      surveys.start();
      classes.start();
      stopped.start();
      judged.start();
      unfollow = store.changes.subscribe((hints) => {
        // The next cycle sees what was missed.
        if (hints === "missed") return;
        for (const { kind, id } of hints) {
          if (kind === "instance") stopped.add(id);
          if (kind === "verdict") judged.add(id, { afterMs: VERDICT_MS });
        }
      });
      surveySoon();
    },
    stop,
    idle: async () => void (await surveys.idle().then(() => classes.idle())),
  };
}
