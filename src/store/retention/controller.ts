import { type Clock, millis } from "../../domain/clock.ts";
import type { MemberId } from "../../domain/ids.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue } from "../../runtime/keyed-queue.ts";
import { every } from "../../runtime/timer/every.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { MemberStore } from "../member/port.ts";
import type { JournalPosition, RetentionStore } from "./port.ts";

export interface RetentionDeps {
  readonly store: RetentionStore;
  readonly members: Pick<MemberStore, "acquire" | "release">;
  readonly memberId: MemberId;
  readonly keep: { readonly operationDays: number; readonly decisionDays: number; readonly auditDays: number; readonly usageDays: number };
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Retention {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void>;
}

const DAY_MS = 24 * 60 * 60_000;
const EVERY_MS = 60 * 60_000;
/** The lease only saves double work: whoever outlives it disturbs nobody. */
const LEASE_MS = 10 * 60_000;
const LEASE_KEY = "retention";
/** Rows of one step: some ten milliseconds, so that no other statement waits for it noticeably. */
const STEP = 1000;

/** How long it is kept in mind which applications a cascade ended: creations land within a minute, what they made is found within six. */
const ENDED_DAYS = 1;

/** Forgets completed operations, moves and journal entries by their age, and credentials of nobody, once an hour and on one member at a time. */
export function createRetention(deps: RetentionDeps): Retention {
  const { store, members, memberId, keep, clock, log } = deps;
  const forgotten = deps.metrics.counter(
    "argosy_store_forgotten_rows_total",
    "Rows that were removed because of their age, or because they belonged to nothing.",
    ["table"],
  );
  const daysAgo = (days: number) => millis(clock.now() - days * DAY_MS);

  const inSteps = async (table: string, step: () => Promise<number>): Promise<number> => {
    for (let sum = 0; ; ) {
      const count = await step();
      forgotten.add(count, { table });
      sum += count;
      if (count < STEP) return sum;
    }
  };
  const forgetOperations = (signal: AbortSignal) =>
    inSteps("operation", () => store.forgetOperations(daysAgo(keep.operationDays), STEP, signal));
  const forgetPlans = (signal: AbortSignal) => inSteps("plan", () => store.forgetPlans(daysAgo(keep.decisionDays), STEP, signal));
  const forgetMoves = (signal: AbortSignal) => inSteps("move", () => store.forgetMoves(daysAgo(keep.decisionDays), STEP, signal));
  const forgetEnded = (signal: AbortSignal) => inSteps("ended_application", () => store.forgetEnded(daysAgo(ENDED_DAYS), STEP, signal));
  const forgetUsage = (signal: AbortSignal) => inSteps("usage_hour", () => store.forgetUsage(daysAgo(keep.usageDays), STEP, signal));
  // By whole days: each time that anything goes, a record says so, and that goes in its turn.
  const forgetAudit = (signal: AbortSignal) => {
    const before = millis(Math.floor(daysAgo(keep.auditDays) / DAY_MS) * DAY_MS);
    return inSteps("audit_record", () => store.forgetAudit(before, STEP, signal));
  };
  const forgetCredentials = (signal: AbortSignal) => inSteps("credential", () => store.forgetCredentials(STEP, signal));

  const forgetDecisions = async (signal: AbortSignal): Promise<number> => {
    const before = daysAgo(keep.decisionDays);
    let sum = 0;
    let after: JournalPosition | undefined;
    do {
      const step = await store.forgetDecisions({ before, limit: STEP, after }, signal);
      forgotten.add(step.forgotten, { table: "decision" });
      sum += step.forgotten;
      after = step.next;
    } while (after !== undefined);
    return sum;
  };

  const work = async (_key: string, signal: AbortSignal): Promise<void> => {
    const lease = await members.acquire(LEASE_KEY, memberId, LEASE_MS, signal);
    if (lease === undefined) return;
    const operations = await forgetOperations(signal);
    const plans = await forgetPlans(signal);
    const moves = await forgetMoves(signal);
    const decisions = await forgetDecisions(signal);
    const audit = await forgetAudit(signal);
    if (operations + plans + moves + decisions + audit > 0)
      log.info({ operations, plans, moves, decisions, audit }, "Forgetting what ended long ago");
    await forgetEnded(signal);
    await forgetUsage(signal);
    const credentials = await forgetCredentials(signal);
    if (credentials > 0) log.warn({ credentials }, "Forgetting sealed credentials that belonged to nothing");
    await members.release(lease, signal);
  };

  const queue = createKeyedQueue({ ...deps, name: "retention", concurrency: 1, work });
  const ask = (): void => queue.add(LEASE_KEY);
  return {
    start(signal) {
      every({ ...deps, ms: EVERY_MS, run: ask }, signal);
      queue.start();
      ask();
    },
    stop: queue.stop,
    idle: queue.idle,
  };
}
