import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { type Lack, lackOf } from "../../shard/lack.ts";
import { deletionOf, planApplication } from "../../shard/plan-application.ts";
import { renderApplication, type Target, targetOf } from "../../shard/render-application.ts";
import type { Destination } from "../../shard/seat.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import { awaitHost, takeOff } from "../absence/controller.ts";
import { acknowledgeApplication } from "../acknowledgement/controller.ts";
import type { Carrier } from "../object/controller.ts";
import { UNSURE_AGAIN_MS } from "../object/unanswered.ts";
import type { Pacing } from "../pacing/controller.ts";
import type { Progress } from "../progress/controller.ts";
import { waits } from "../progress/reasons.ts";
import type { Rows } from "../rows/controller.ts";
import type { Host, Hosts } from "../seats/controller.ts";
import { type ApplicationPlan, hasTurn } from "../turn/controller.ts";
import { createWaitingRows } from "./waiting-rows.ts";
import { createApplicationWishes } from "./wishes.ts";

/** Makes one Argo CD Application equal to its row. */
export interface ApplicationController {
  /** Keeps a row that was just read for the next run, so that this run need not read it again. */
  prime(row: DesiredApplication): void;
  reconcile(id: ApplicationId, signal: AbortSignal): Promise<WorkResult | void>;
  /** The unit's objects stand at this revision: what waited for them, and needs nothing that lacks, may go on. Returns the ids. */
  release(unitId: UnitId, revision: number, lacks: readonly Lack[]): readonly ApplicationId[];
}

export interface ApplicationControllerDeps {
  readonly rows: Rows;
  readonly hosts: Hosts;
  readonly carrier: Carrier;
  readonly progress: Progress;
  readonly destination: Destination;
  readonly clock: Clock;
  readonly pacing: Pick<Pacing, "admits">;
  /** Asks for the unit's objects, which must stand before the unit's Applications. */
  readonly requestUnit: (id: UnitId) => void;
  /** A manual application stands as its row wants it: syncs that waited for that may begin. */
  readonly onApplied: (id: ApplicationId, unit: UnitId) => void;
}

/** What Argo CD reports, or that a list has come, asks for no look at an Application. */
const RETRY_MS = 250;

export function createApplicationController(deps: ApplicationControllerDeps): ApplicationController {
  const { rows, hosts, progress } = deps;
  const primed = new Map<ApplicationId, DesiredApplication>();
  const waiting = createWaitingRows<DesiredApplication>(deps.clock);
  const wishes = createApplicationWishes(deps.clock);

  const bringAbout = async (row: DesiredApplication, host: Host, target: Target, signal: AbortSignal): Promise<WorkResult | void> => {
    const { application, unit, workspace } = row;
    const seat = { unit, workspace, instance: host.instance };
    const desired = renderApplication(seat, application, target);
    const wish = wishes.of(application);
    const plan: ApplicationPlan = (observed) => planApplication(desired, wish, observed);
    if (wish.deletion === "none" && !hasTurn(deps.pacing, { row, host, plan })) return progress.waits(application, waits.turn, signal);
    const end = await deps.carrier.carryOut({ objects: host.engine.applications, at: desired.at, plan, name: "application" }, signal);
    if (end.kind === "await-rest") return { ...(await progress.waits(application, waits.rest, signal)), requeueAfterMs: RETRY_MS };
    if (end.kind === "unsure") return { ...(await progress.waits(application, waits.unanswered, signal)), requeueAfterMs: UNSURE_AGAIN_MS };
    wishes.forget(application.id);
    if (end.kind === "await-end") return progress.ends(row, end.observed, signal);
    progress.done(application.id);
    if (end.kind === "gone") await rows.forget(application.id, signal);
    if (end.kind === "settled") return acknowledgeApplication(deps, row, { seat, desired, observed: end.observed }, signal);
  };

  const awaitUnit = (row: DesiredApplication, signal: AbortSignal): Promise<WorkResult> => {
    waiting.add(row);
    deps.requestUnit(row.unit.id);
    return progress.waits(row.application, progress.unitWait(row), signal);
  };

  const reconcileRow = async (row: DesiredApplication, signal: AbortSignal): Promise<WorkResult | void> => {
    const { application, unit } = row;
    const isWanted = deletionOf(application) === "none";
    // Never placed: nothing of it can stand anywhere.
    if (unit.owner === undefined) return isWanted ? undefined : rows.forget(application.id, signal);
    const host = await hosts.find(unit.owner, signal);
    if (host === undefined) return awaitHost(deps, row, signal);
    if (!host.engine.isSynced())
      return progress.waits(application, waits.unlisted(host.engine.cluster), signal).then(() => ({ requeueAfterMs: RETRY_MS }));
    const target = targetOf(row, application, { own: deps.destination, environment: row.environment });
    if (target === undefined) return takeOff(deps, { row, host }, signal);
    if (isWanted && row.unitAppliedRevision < unit.desiredRevision) return awaitUnit(row, signal);
    return bringAbout(row, host, target, signal);
  };

  return {
    prime: (row) => void primed.set(row.application.id, row),
    async reconcile(id, signal) {
      const row = primed.get(id) ?? (await rows.readApplication(id, signal));
      primed.delete(id);
      waiting.remove(id);
      // While its unit is moved the move writes for it, and in the end asks for it.
      if (row === undefined || row.unit.phase === "MOVING") return void [wishes.forget(id), progress.done(id)];
      try {
        return await reconcileRow(row, signal);
      } catch (error) {
        await progress.failed(row.application, error, signal);
        throw error;
      }
    },
    release(unitId, revision, lacks) {
      const released = waiting.release(unitId, (row) => lackOf(row, lacks) === undefined);
      for (const { row, isOld } of released) {
        if (!isOld && !primed.has(row.application.id)) primed.set(row.application.id, { ...row, unitAppliedRevision: revision });
      }
      return released.map(({ row }) => row.application.id);
    },
  };
}
