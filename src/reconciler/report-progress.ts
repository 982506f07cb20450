import { BLOCKED_AFTER_MS, type Blockage, type HeldObject } from "../domain/blockage.ts";
import type { Clock } from "../domain/clock.ts";
import type { ApplicationId, UnitId } from "../domain/ids.ts";
import type { Application } from "../domain/workspace.ts";
import type { WorkResult } from "../runtime/keyed-queue.ts";
import { type MissingPrerequisite, missingPrerequisiteOf } from "../shard/missing-prerequisite.ts";
import { accountName } from "../shard/names.ts";
import type { ObservedApplication } from "../shard/parse-application.ts";
import { isBlocked } from "../shard/parse-held-objects.ts";
import { deletionOf } from "../shard/plan-application.ts";
import type { DesiredApplication } from "../store/shard/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { HeldObjects } from "./port.ts";
import type { Rows } from "./read-and-record-rows.ts";
import {
  reasonOf,
  reportAfterMs,
  type Trouble,
  type TroubleCause,
  type TroubleStreak,
  textOf,
  troubleOf,
  troubleOfEnd,
  waitingFor,
  waits,
} from "./trouble.ts";

/**
 * Reports at the operation why an application is not where it should be, and what holds a deletion; users read it in their
 * status. What goes well costs nothing: it was completed together with its acknowledgement.
 */
export interface Progress {
  /** It is where it should be, or not ours any more. */
  done(id: ApplicationId): void;
  failed(application: Reported, error: unknown, signal: AbortSignal): Promise<void>;
  /** Nothing can be done before something else has happened. Returns when to check again, to report it should it not pass. */
  waits(application: Reported, what: string, signal: AbortSignal): Promise<WorkResult>;
  /** Its end was asked for and has not come. */
  ends(row: DesiredApplication, observed: ObservedApplication, signal: AbortSignal): Promise<void>;
  /** Works on a unit's prerequisites, and remembers what keeps them from standing. */
  followUnit(id: UnitId, work: () => Promise<UnitResult>): Promise<WorkResult>;
  /** What an application waits for until its unit's prerequisites stand, or which of them are missing. */
  unitWait(row: DesiredApplication): string;
}

type Reported = Pick<Application, "id" | "desiredRevision" | "deletion">;

/** What became of work on a unit's prerequisites. */
export interface UnitResult extends WorkResult, Partial<TroubleCause> {}

export interface ProgressDeps extends BlockageDeps {
  readonly rows: Pick<Rows, "recordProgress">;
}

export function createProgress(deps: ProgressDeps): Progress {
  const { rows, clock, log } = deps;
  const blockages = createBlockages(deps);
  const streaks = new Map<ApplicationId, TroubleStreak>();
  const units = new Map<UnitId, { readonly waits: string; readonly missingPrerequisites: readonly MissingPrerequisite[] }>();

  /** Returns after how many ms it is worth reporting, if it was not now. */
  const report = async ({ id, ...wanted }: Reported, trouble: Trouble, signal: AbortSignal): Promise<number | undefined> => {
    const nowMs = clock.monotonicMs();
    const desired = `${wanted.desiredRevision} ${wanted.deletion}`;
    const before = streaks.get(id) ?? { sinceMs: nowMs, attempts: 0, reported: undefined };
    const reported = streaks.get(id)?.desired === desired ? before.reported : undefined;
    const streak = { ...before, reported, desired, attempts: before.attempts + (trouble.state === "Waiting" ? 0 : 1) };
    streaks.set(id, streak);
    const afterMs = reportAfterMs(streak, trouble, nowMs);
    if (afterMs !== 0) return afterMs;
    const { state, message, blockage } = trouble;
    try {
      await rows.recordProgress({ applicationId: id, state, message, blockage, attempts: streak.attempts }, signal);
      streaks.set(id, { ...streak, attempts: 0, reported: { text: textOf(trouble), atMs: nowMs } });
    } catch (error) {
      // A note only: what it is about goes on, and the next attempt says it again.
      log.debug({ application: id, err: error }, "Failing to note how far an application is");
    }
    return undefined;
  };

  return {
    done(id) {
      streaks.delete(id);
      blockages.forget(id);
    },
    async failed(application, error, signal) {
      if (!signal.aborted) await report(application, troubleOf(error), signal);
    },
    async waits(application, what, signal) {
      blockages.forget(application.id);
      const afterMs = await report(application, waitingFor(what), signal);
      return afterMs === undefined ? {} : { requeueAfterMs: afterMs };
    },
    async ends(row, observed, signal) {
      const { environment } = row.application.spec.destination;
      const blockage = await blockages.observe(row, observed, signal);
      await report(row.application, troubleOfEnd(observed, { deletion: deletionOf(row.application), environment }, blockage), signal);
    },
    async followUnit(id, work) {
      try {
        const { waits: whys = [], missingPrerequisites = [], ...result } = await work();
        units.set(id, { waits: whys.join("; "), missingPrerequisites });
        if (whys.length + missingPrerequisites.length === 0) units.delete(id);
        return result;
      } catch (error) {
        units.set(id, { waits: `${waits.unit}: ${reasonOf(error)}`, missingPrerequisites: [] });
        throw error;
      }
    },
    unitWait(row) {
      const unit = units.get(row.unit.id);
      const missingPrerequisite = missingPrerequisiteOf(row, unit?.missingPrerequisites ?? []);
      return missingPrerequisite === undefined ? unit?.waits || waits.unit : waits.credential(missingPrerequisite);
    },
  };
}

interface BlockageDeps {
  readonly held: HeldObjects;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How long a deletion may take before it counts as blocked, in ms; default as in the domain. */
  readonly blockedAfterMs?: number;
}

/** Keeps in view which Applications should have ended long ago, and what holds them. */
interface Blockages {
  /** What is known of a deletion that does not end; `undefined` while it may still take its time. */
  observe(row: DesiredApplication, observed: ObservedApplication, signal: AbortSignal): Promise<Blockage | undefined>;
  forget(id: ApplicationId): void;
}

/** How often to ask what holds one deletion, in ms: each time costs a list per kind of object. */
const OBSERVE_EVERY_MS = 60_000;
/** How soon it is asked again after nothing was found, in ms. */
const AGAIN_MS = 10_000;

function createBlockages(deps: BlockageDeps): Blockages {
  const { clock, log } = deps;
  const blocked = new Map<ApplicationId, { readonly atMs: number; readonly held: readonly HeldObject[] }>();
  deps.metrics
    .gauge("argosy_reconciler_blocked_deletions", "Applications whose deletion was asked for long ago and has not ended.")
    .collect(() => [{ value: blocked.size }]);

  const findHeld = async ({ application, unit, workspace }: DesiredApplication, observed: ObservedApplication, signal: AbortSignal) => {
    const resources = observed.report?.unrecorded?.resources ?? [];
    // Outside the own namespace this account may not read.
    if (application.spec.destination.environment !== undefined || unit.owner === undefined) return [];
    const where = { namespace: workspace.namespace, account: accountName(unit.id, unit.owner), resources };
    return deps.held.find(where, signal).catch((error: unknown) => {
      log.debug({ application: application.id, err: error }, "Failing to see what holds a deletion");
      return [];
    });
  };

  return {
    async observe(row, observed, signal) {
      const { id } = row.application;
      const { at, finalizers, report, deletingSince: since } = observed;
      if (since === undefined || !isBlocked(observed, clock.now(), deps.blockedAfterMs ?? BLOCKED_AFTER_MS)) return void blocked.delete(id);
      const last = blocked.get(id);
      if (last !== undefined && clock.monotonicMs() - last.atMs < OBSERVE_EVERY_MS) return { since, held: last.held };
      const held = await findHeld(row, observed, signal);
      // What was not found is searched for again soon: a search may fail, and Argo CD may not have said yet what there is.
      const atMs = clock.monotonicMs() - (held.length === 0 ? OBSERVE_EVERY_MS - AGAIN_MS : 0);
      const seen = { application: id, at, finalizers, since, held, conditions: report?.conditions };
      if (last === undefined) log.warn(seen, "Waiting long for the end of an Application");
      blocked.set(id, { atMs, held });
      return { since, held };
    },
    forget: (id) => void blocked.delete(id),
  };
}
