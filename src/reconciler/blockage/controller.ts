import { BLOCKED_AFTER_MS, type Blockage, type HeldObject } from "../../domain/blockage.ts";
import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import { isBlocked } from "../../shard/blocked.ts";
import { accountName } from "../../shard/names.ts";
import type { ObservedApplication } from "../../shard/parse-application.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { HeldObjects } from "../port.ts";

/** Keeps in sight which Applications should have ended long ago, and what holds them. */
export interface BlockageWatch {
  /** What is known of a deletion that does not end; `undefined` while it may still take its time. */
  look(row: DesiredApplication, observed: ObservedApplication, signal: AbortSignal): Promise<Blockage | undefined>;
  forget(id: ApplicationId): void;
}

export interface BlockageWatchDeps {
  readonly held: HeldObjects;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How long a deletion may take before it counts as blocked, in ms; default as in the domain. */
  readonly blockedAfterMs?: number;
}

/** How often one deletion is looked into: each time costs a list per kind of object. */
const LOOK_EVERY_MS = 60_000;

export function createBlockageWatch(deps: BlockageWatchDeps): BlockageWatch {
  const { clock, log } = deps;
  const looks = new Map<ApplicationId, { readonly atMs: number; readonly held: readonly HeldObject[] }>();
  deps.metrics
    .gauge("argosy_reconciler_blocked_deletions", "Applications whose deletion was asked for long ago and has not ended.")
    .collect(() => [{ value: looks.size }]);

  const find = async ({ application, unit, workspace }: DesiredApplication, observed: ObservedApplication, signal: AbortSignal) => {
    const resources = observed.report?.status.resources ?? [];
    // Elsewhere than in the own namespace this account may not look.
    if (application.spec.destination.environment !== undefined || unit.owner === undefined) return [];
    const where = { namespace: workspace.namespace, account: accountName(unit.id, unit.owner), resources };
    return deps.held.find(where, signal).catch((error: unknown) => {
      log.debug({ application: application.id, err: error }, "Failing to see what holds a deletion");
      return [];
    });
  };

  return {
    async look(row, observed, signal) {
      const { id } = row.application;
      const { at, finalizers, report, deletingSince: since } = observed;
      if (since === undefined || !isBlocked(observed, clock.now(), deps.blockedAfterMs ?? BLOCKED_AFTER_MS)) return void looks.delete(id);
      const last = looks.get(id);
      if (last !== undefined && clock.monotonicMs() - last.atMs < LOOK_EVERY_MS) return { since, held: last.held };
      const held = await find(row, observed, signal);
      const seen = { application: id, at, finalizers, since, held, conditions: report?.status.conditions };
      if (last === undefined) log.warn(seen, "Waiting long for the end of an Application");
      looks.set(id, { atMs: clock.monotonicMs(), held });
      return { since, held };
    },
    forget: (id) => void looks.delete(id),
  };
}
