import { type Clock, millis, rfc3339 } from "../../domain/clock.ts";
import type { UnitId } from "../../domain/ids.ts";
import type { Rng } from "../../domain/rng.ts";
import type { PlacementUnit, Workspace } from "../../domain/workspace.ts";
import { createKeyedQueue } from "../../runtime/keyed-queue.ts";
import { addRepair, afterRepair, type Repairs, repairsText, repairWaitMs, type Tampering } from "../../shard/tampering.ts";
import type { DecisionStore } from "../../store/decision/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

/** Tells SREs of registers that somebody changed and that were put back, in the journal and the log. */
export interface RepairJournal {
  /** Counts one; it is written at once, or with the next entry of the unit where there was one within the hour. */
  tell(whose: { readonly unit: Pick<PlacementUnit, "id">; readonly workspace: Pick<Workspace, "namespace"> }, tampering: Tampering): void;
  /** How long the unit's next repair has to wait, in ms. */
  waitMs(id: UnitId): number;
  start(): void;
  stop(): Promise<void>;
  idle(): Promise<void>;
}

export interface RepairJournalDeps {
  readonly decisions: DecisionStore;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Entries of one unit are this far apart: a change a second for a day is 24 of them. */
const ENTRY_EVERY_MS = 60 * 60_000;
/** Of units whose repairs were long ago nothing is kept. */
const RECENT_MS = 60_000;

export function createRepairJournal(deps: RepairJournalDeps): RepairJournal {
  const { decisions, clock, log } = deps;
  const pending = new Map<UnitId, Repairs & { readonly namespace: string }>();
  const times = new Map<UnitId, readonly number[]>();
  const repairs = deps.metrics.counter("argosy_register_repairs_total", "Registers that somebody changed and that were put back.", [
    "what",
  ]);

  const write = async (key: string, signal: AbortSignal) => {
    const unit = key as UnitId;
    const told = pending.get(unit);
    if (told === undefined) return;
    const now = clock.now();
    const since = millis(now - ENTRY_EVERY_MS);
    const [last] = await decisions.list({ subject: unit, kind: "register", since }, 1, signal);
    if (last !== undefined) return { requeueAfterMs: last.at + ENTRY_EVERY_MS + 1 - now };
    const { namespace, count, firstAt, last: tampering } = told;
    const reason = repairsText(told);
    log.warn({ unit, namespace, count, what: tampering.what, by: tampering.by }, "Telling of a register that somebody else changed");
    const details = { namespace, count, firstAt: rfc3339(millis(firstAt)), by: tampering.by ?? null, reason };
    await decisions.append(
      [{ at: now, subject: unit, kind: "register", verdict: "REPAIRED", rule: tampering.what.toUpperCase(), details }],
      signal,
    );
    // What came meanwhile is told of next time.
    const more = pending.get(unit);
    pending.delete(unit);
    if (more === undefined || more.count === count) return;
    pending.set(unit, { ...more, count: more.count - count, firstAt: now });
    return { requeueAfterMs: ENTRY_EVERY_MS };
  };
  const queue = createKeyedQueue({ ...deps, name: "repairs", concurrency: 1, rng: deps.rng.fork("repairs"), work: write });

  const forgetOld = (nowMs: number): void => {
    for (const [id, before] of times) if ((before.at(-1) ?? 0) + RECENT_MS < nowMs) times.delete(id);
  };

  return {
    tell({ unit, workspace }, tampering) {
      repairs.add(1, { what: tampering.what });
      const nowMs = clock.monotonicMs();
      forgetOld(nowMs);
      times.set(unit.id, afterRepair(times.get(unit.id) ?? [], nowMs));
      pending.set(unit.id, { ...addRepair(pending.get(unit.id), tampering, clock.now()), namespace: workspace.namespace });
      queue.add(unit.id);
    },
    waitMs: (id) => repairWaitMs(times.get(id) ?? [], clock.monotonicMs()),
    start: queue.start,
    stop: queue.stop,
    idle: queue.idle,
  };
}
