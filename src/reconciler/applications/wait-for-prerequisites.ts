import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { deletionOf } from "../../shard/plan-application.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import type { Requests } from "../keys.ts";
import type { Progress } from "../report-progress.ts";
import type { ApplicationRows } from "./application-rows.ts";

/**
 * Lets an application wait for its unit's prerequisites, if it needs them and they do not stand at the desired revision. The unit's key is asked
 * for: its run makes them, and then asks for the application's key. Returns when to check again, to report a wait that does not pass;
 * `undefined` where nothing has to be waited for.
 */
export type WaitForPrerequisites = (row: DesiredApplication, signal: AbortSignal) => Promise<WorkResult> | undefined;

export interface WaitForPrerequisitesDeps {
  readonly applicationRows: Pick<ApplicationRows<DesiredApplication>, "wait">;
  readonly requests: Pick<Requests, "requestUnit">;
  readonly progress: Pick<Progress, "waits" | "unitWait">;
}

export function createWaitForPrerequisites({ applicationRows, requests, progress }: WaitForPrerequisitesDeps): WaitForPrerequisites {
  return (row, signal) => {
    const { application, unit } = row;
    if (deletionOf(application) !== "none" || row.unitAppliedRevision >= unit.desiredRevision) return undefined;
    applicationRows.wait(row);
    requests.requestUnit(unit.id);
    return progress.waits(application, progress.unitWait(row), signal);
  };
}
