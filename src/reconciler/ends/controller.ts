import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import { isBlocked } from "../../shard/blocked.ts";
import type { ObservedApplication } from "../../shard/parse-application.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Settlement } from "../object/controller.ts";

/** Keeps in sight which Applications should have ended long ago, so that a blocked deletion is never a silent one. */
export interface EndWatch {
  note(id: ApplicationId, settlement: Settlement<ObservedApplication> | undefined): void;
}

export function createEndWatch({ clock, log, metrics }: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics }): EndWatch {
  const blocked = new Set<ApplicationId>();
  metrics
    .gauge("argosy_reconciler_blocked_deletions", "Applications whose deletion was asked for long ago and has not ended.")
    .collect(() => [{ value: blocked.size }]);
  return {
    note(id, settlement) {
      if (settlement?.kind !== "await-end" || !isBlocked(settlement.observed, clock.now())) return void blocked.delete(id);
      const { at, finalizers, deletingSince, report } = settlement.observed;
      if (!blocked.has(id)) {
        log.warn(
          { application: id, at, finalizers, deletingSince, conditions: report?.status.conditions },
          "Waiting long for the end of an Application",
        );
      }
      blocked.add(id);
    },
  };
}
