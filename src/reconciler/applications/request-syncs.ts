import type { Clock } from "../../domain/clock.ts";
import { GoneError, StaleError } from "../../domain/errors.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import type { SyncRun } from "../../domain/sync-run.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { ObjectAt } from "../../shard/managed-object.ts";
import type { ObservedApplication } from "../../shard/parse-application.ts";
import { planSync, runsToCarry, type SyncAction } from "../../shard/plan-sync.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Host, type Hosts, UNLISTED_AGAIN_MS } from "../find-hosts.ts";
import type { Rows } from "../read-and-record-rows.ts";
import type { Pacing } from "./pace-applications.ts";

export interface RequestSyncsDeps {
  readonly rows: Pick<Rows, "readQueue" | "readApplication" | "recordReport">;
  readonly hosts: Pick<Hosts, "find">;
  readonly pacing: Pick<Pacing, "admits">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Asking and writing take four; more means that something else writes the Application all the time. */
const STEP_LIMIT = 8;

interface Task {
  readonly row: DesiredApplication;
  readonly host: Host;
  readonly run: SyncRun;
}

interface Seen {
  readonly observed: ObservedApplication | undefined;
  /** The cluster itself was asked, not the cache. */
  readonly isFresh: boolean;
}

/** Returns what carries out the runs of syncs that users ask for, one after the other for each application. */
export function createRequestSyncs({ rows, hosts, pacing, clock, log }: RequestSyncsDeps) {
  const carryOut = async (task: Task, signal: AbortSignal): Promise<void> => {
    const { row, host, run } = task;
    let seen: Seen = { observed: host.engine.applications.get(placeOf(task)), isFresh: false };
    for (let step = 0; step < STEP_LIMIT; step += 1) {
      const appliedRevision = row.acknowledged?.appliedRevision ?? 0;
      const action = planSync({ ...row, appliedRevision, run, ...seen }, clock.now());
      if (action.kind === "wait" || !mayBegin(task, action)) return;
      if (action.kind === "record") return record(task, action, signal);
      seen = { observed: (await patch(task, action, signal)) ?? (await read(task, signal)), isFresh: true };
    }
    throw new StaleError("carrying out a run", { code: "reconciler.contested", context: { object: "sync", ...placeOf(task) } });
  };

  /** Only what has not begun can wait for its turn. */
  const mayBegin = (task: Task, action: SyncAction): boolean => {
    const { application, unit } = task.row;
    if (action.kind !== "patch" || action.step !== "request") return true;
    return pacing.admits({ kind: "sync", id: application.id, unit: unit.id, at: placeOf(task) }, task.host);
  };

  const read = (task: Task, signal: AbortSignal) => task.host.engine.applications.read(placeOf(task), signal);

  /** The Application as written; `undefined` when the cluster has to be asked. */
  const patch = async (task: Task, action: SyncAction, signal: AbortSignal): Promise<ObservedApplication | undefined> => {
    if (action.kind !== "patch") return undefined;
    log.info({ application: task.row.application.id, run: task.run.uid, step: action.step }, "Steering a sync");
    try {
      return await task.host.engine.applications.patch(placeOf(task), action.patch, signal);
    } catch (error) {
      if (error instanceof StaleError || error instanceof GoneError) return undefined;
      throw error;
    }
  };

  const record = ({ run, host, row }: Task, { progress, requestedAt }: Extract<SyncAction, { kind: "record" }>, signal: AbortSignal) =>
    rows.recordReport({ uid: run.uid, instanceId: host.instance.id, epoch: row.unit.epoch, requestedAt, progress }, signal);

  return async (id: ApplicationId, signal: AbortSignal): Promise<WorkResult | void> => {
    const queue = await rows.readQueue(id, signal);
    const row = queue.length === 0 ? undefined : await rows.readApplication(id, signal);
    if (row?.unit.owner === undefined || row.unit.phase === "MOVING") return undefined;
    const host = await hosts.find(row.unit.owner, signal);
    if (host === undefined) return undefined;
    if (!host.engine.isSynced()) return { requeueAfterMs: UNLISTED_AGAIN_MS };
    const observed = host.engine.applications.get(placeOf({ row, host }));
    for (const run of runsToCarry(queue, observed)) await carryOut({ row, host, run }, signal);
    return undefined;
  };
}

function placeOf({ row, host }: Omit<Task, "run">): ObjectAt {
  return { namespace: host.instance.namespace, name: row.application.argoName };
}
