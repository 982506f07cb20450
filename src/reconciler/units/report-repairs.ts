import { type Clock, millis, rfc3339 } from "../../domain/clock.ts";
import type { UnitId } from "../../domain/ids.ts";
import type { PlacementUnit, Workspace } from "../../domain/workspace.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { addRepair, afterRepair, type Repairs, repairsText, repairWaitMs, type Tampering } from "../../shard/tampering.ts";
import type { DecisionStore } from "../../store/decision/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Requests } from "../keys.ts";

/** Reports owner bindings that somebody changed and that were put back to SREs, in the journal and the log. */
export interface RepairReports {
  /** Counts one and asks for its report. */
  add(whose: { readonly unit: Pick<PlacementUnit, "id">; readonly workspace: Pick<Workspace, "namespace"> }, tampering: Tampering): void;
  /** How long the unit's next repair has to wait, in ms. */
  waitMs(id: UnitId): number;
  /** Writes what was counted for a unit at once, or with the unit's next entry where there was one within the hour. */
  write(id: UnitId, signal: AbortSignal): Promise<WorkResult | void>;
}

export interface RepairReportsDeps {
  readonly decisions: DecisionStore;
  readonly requests: Pick<Requests, "requestRepairReport">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Entries of one unit are this far apart: a change a second for a day is 24 of them. */
const ENTRY_EVERY_MS = 60 * 60_000;
/** Of units whose repairs were long ago nothing is kept. */
const RECENT_MS = 60_000;

export function createRepairReports({ decisions, requests, clock, log, metrics }: RepairReportsDeps): RepairReports {
  const pending = new Map<UnitId, Repairs & { readonly namespace: string }>();
  const times = new Map<UnitId, readonly number[]>();
  const repairs = metrics.counter("argosy_owner_binding_repairs_total", "Owner bindings that somebody changed and that were put back.", [
    "what",
  ]);

  const forgetOld = (nowMs: number): void => {
    for (const [id, before] of times) if ((before.at(-1) ?? 0) + RECENT_MS < nowMs) times.delete(id);
  };

  return {
    add({ unit, workspace }, tampering) {
      repairs.add(1, { what: tampering.what });
      const nowMs = clock.monotonicMs();
      forgetOld(nowMs);
      times.set(unit.id, afterRepair(times.get(unit.id) ?? [], nowMs));
      pending.set(unit.id, { ...addRepair(pending.get(unit.id), tampering, clock.now()), namespace: workspace.namespace });
      requests.requestRepairReport(unit.id);
    },
    waitMs: (id) => repairWaitMs(times.get(id) ?? [], clock.monotonicMs()),
    async write(unit, signal) {
      const counted = pending.get(unit);
      if (counted === undefined) return;
      const now = clock.now();
      const since = millis(now - ENTRY_EVERY_MS);
      const [last] = await decisions.list({ subject: unit, kind: "owner-binding", since }, 1, signal);
      if (last !== undefined) return { requeueAfterMs: last.at + ENTRY_EVERY_MS + 1 - now };
      const { namespace, count, firstAt, last: tampering } = counted;
      const reason = repairsText(counted);
      log.warn({ unit, namespace, count, what: tampering.what, by: tampering.by }, "Reporting an owner binding that somebody else changed");
      const details = { namespace, count, firstAt: rfc3339(millis(firstAt)), by: tampering.by ?? null, reason };
      await decisions.append(
        [{ at: now, subject: unit, kind: "owner-binding", verdict: "REPAIRED", rule: tampering.what.toUpperCase(), details }],
        signal,
      );
      // What came meanwhile is reported next time.
      const more = pending.get(unit);
      pending.delete(unit);
      if (more === undefined || more.count === count) return;
      pending.set(unit, { ...more, count: more.count - count, firstAt: now });
      return { requeueAfterMs: ENTRY_EVERY_MS };
    },
  };
}
