import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import type { Application } from "../../domain/workspace.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { type Lack, lackOf } from "../../shard/lack.ts";
import type { ObservedApplication } from "../../shard/parse-application.ts";
import { deletionOf } from "../../shard/plan-application.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { BlockageWatch } from "../blockage/controller.ts";
import type { Rows } from "../rows/controller.ts";
import { waits } from "./reasons.ts";
import { reasonOf, type Streak, type Trouble, tellAfterMs, textOf, troubleOf, troubleOfEnd, waitingFor } from "./trouble.ts";

/**
 * Tells people, at the operation, why an application is not where it should be, and what holds a deletion; users read it in their
 * status. What goes well costs nothing: it was completed together with its acknowledgement.
 */
export interface Progress {
  /** It is where it should be, or no business of ours any more. */
  done(id: ApplicationId): void;
  failed(application: Told, error: unknown, signal: AbortSignal): Promise<void>;
  /** Nothing can be done about it before something else has happened. Returns when to look again to tell, should it not pass. */
  waits(application: Told, what: string, signal: AbortSignal): Promise<WorkResult>;
  /** Its end was asked for and has not come. */
  ends(row: DesiredApplication, observed: ObservedApplication, signal: AbortSignal): Promise<void>;
  /** Works on the unit's objects, and remembers what keeps them from standing. */
  followUnit(id: UnitId, work: () => Promise<UnitResult>): Promise<WorkResult>;
  /** What an application waits for until its unit's objects stand, or what it needs of them. */
  unitWait(row: DesiredApplication): string;
}

type Told = Pick<Application, "id" | "desiredRevision" | "deletion">;

/** What became of work on a unit's objects. */
export interface UnitResult extends WorkResult {
  /** What they wait for, see `reasons.ts`. */
  readonly waits?: readonly string[];
  readonly lacks?: readonly Lack[];
}

export interface ProgressDeps {
  readonly rows: Rows;
  readonly blockages: BlockageWatch;
  readonly clock: Clock;
  readonly log: Log;
}

export function createProgress({ rows, blockages, clock, log }: ProgressDeps): Progress {
  const streaks = new Map<ApplicationId, Streak>();
  const units = new Map<UnitId, { readonly waits: string; readonly lacks: readonly Lack[] }>();

  /** Returns after how many ms it is worth telling, if it was not now. */
  const tell = async ({ id, ...wanted }: Told, trouble: Trouble, signal: AbortSignal): Promise<number | undefined> => {
    const nowMs = clock.monotonicMs();
    const wish = `${wanted.desiredRevision} ${wanted.deletion}`;
    const before = streaks.get(id) ?? { sinceMs: nowMs, attempts: 0, told: undefined };
    const told = streaks.get(id)?.wish === wish ? before.told : undefined;
    const streak = { ...before, told, wish, attempts: before.attempts + (trouble.state === "Waiting" ? 0 : 1) };
    streaks.set(id, streak);
    const afterMs = tellAfterMs(streak, trouble, nowMs);
    if (afterMs !== 0) return afterMs;
    const { state, message, blockage } = trouble;
    try {
      await rows.recordProgress({ applicationId: id, state, message, blockage, attempts: streak.attempts }, signal);
      streaks.set(id, { ...streak, attempts: 0, told: { text: textOf(trouble), atMs: nowMs } });
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
      if (!signal.aborted) await tell(application, troubleOf(error), signal);
    },
    async waits(application, what, signal) {
      blockages.forget(application.id);
      const afterMs = await tell(application, waitingFor(what), signal);
      return afterMs === undefined ? {} : { requeueAfterMs: afterMs };
    },
    async ends(row, observed, signal) {
      const { environment } = row.application.spec.destination;
      const blockage = await blockages.look(row, observed, signal);
      await tell(row.application, troubleOfEnd(observed, { deletion: deletionOf(row.application), environment }, blockage), signal);
    },
    async followUnit(id, work) {
      try {
        const { waits: whys = [], lacks = [], ...result } = await work();
        units.set(id, { waits: whys.join("; "), lacks });
        if (whys.length + lacks.length === 0) units.delete(id);
        return result;
      } catch (error) {
        units.set(id, { waits: `${waits.unit}: ${reasonOf(error)}`, lacks: [] });
        throw error;
      }
    },
    unitWait(row) {
      const unit = units.get(row.unit.id);
      const lack = lackOf(row, unit?.lacks ?? []);
      return lack === undefined ? unit?.waits || waits.unit : waits.credential(lack);
    },
  };
}
