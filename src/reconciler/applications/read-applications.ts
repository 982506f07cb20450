import type { ApplicationId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { Destination } from "../../shard/application-placement.ts";
import { deletionOf } from "../../shard/plan-application.ts";
import { targetOf } from "../../shard/render-application.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import type { Requests } from "../keys.ts";
import type { KnownApplications, Rows } from "../read-and-record-rows.ts";
import type { Progress } from "../report-progress.ts";
import type { StandingEnvironments } from "../units/standing-environments.ts";

export interface IntakeDeps {
  readonly rows: Pick<Rows, "readApplication">;
  readonly applicationRows: Pick<KnownApplications, "keep">;
  readonly partition: Pick<Partition, "isMine">;
  readonly destination: Destination;
  readonly waitForPrerequisites: WaitForPrerequisites;
  readonly requests: Pick<Requests, "requestApplication">;
  readonly signal: AbortSignal;
}

/** Takes in applications of which only the id is known, and asks for each. */
export type Intake = (ids: readonly ApplicationId[]) => void;

/**
 * Reads the rows in common before their keys take turns, so that a burst costs few statements and turns go round by unit. The key of an
 * application whose prerequisites do not stand yet is asked for by the run that makes them, so that it runs once.
 */
export function createIntake(deps: IntakeDeps): Intake {
  const { applicationRows, requests, signal } = deps;
  const wait = (row: DesiredApplication): Promise<WorkResult> | undefined => {
    const { unit, application } = row;
    const isOurs = unit.owner !== undefined && unit.phase !== "MOVING" && deps.partition.isMine(unit.owner);
    const hasTarget = targetOf(row, application, { own: deps.destination, environment: row.environment }) !== undefined;
    return isOurs && hasTarget ? deps.waitForPrerequisites(row, signal) : undefined;
  };
  const takeIn = async (id: ApplicationId): Promise<void> => {
    try {
      const row = await deps.rows.readApplication(id, signal);
      const waiting = row === undefined ? undefined : wait(row);
      if (waiting === undefined) {
        if (row !== undefined) applicationRows.keep(row);
        return requests.requestApplication(id, row?.unit.id);
      }
      const { requeueAfterMs } = await waiting;
      if (requeueAfterMs !== undefined) requests.requestApplication(id, row?.unit.id, requeueAfterMs);
    } catch {
      // The key's own run reads again, says what is wrong, and backs off.
      if (!signal.aborted) requests.requestApplication(id);
    }
  };
  return (ids) => ids.forEach((id) => void takeIn(id));
}

/**
 * Lets an application wait for its unit's prerequisites, if it needs them and they do not stand at the desired revision. One that goes to an
 * environment waits until this process has made those of its unit, whatever is recorded. The unit's key is asked for: its run makes them,
 * and then asks for the application's key. Returns when to check again, to report a wait that does not pass; `undefined` where nothing has
 * to be waited for.
 */
export type WaitForPrerequisites = (row: DesiredApplication, signal: AbortSignal) => Promise<WorkResult> | undefined;

export interface WaitForPrerequisitesDeps {
  readonly applicationRows: Pick<KnownApplications, "wait">;
  readonly requests: Pick<Requests, "requestUnit">;
  readonly progress: Pick<Progress, "waits" | "unitWait">;
  readonly standingEnvironments: Pick<StandingEnvironments, "covers">;
}

export function createWaitForPrerequisites(deps: WaitForPrerequisitesDeps): WaitForPrerequisites {
  const { applicationRows, requests, progress, standingEnvironments } = deps;
  const stand = (row: DesiredApplication): boolean =>
    row.unitAppliedRevision >= row.unit.desiredRevision &&
    (row.application.spec.destination.environment === undefined || standingEnvironments.covers(row));
  return (row, signal) => {
    const { application, unit } = row;
    if (deletionOf(application) !== "none" || stand(row)) return undefined;
    applicationRows.wait(row);
    requests.requestUnit(unit.id);
    return progress.waits(application, progress.unitWait(row), signal);
  };
}
