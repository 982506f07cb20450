import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { acknowledgementOf, type StandingObject } from "../../shard/acknowledge.ts";
import { type ApplicationPlacement, applicationFence, type Destination, ownServer } from "../../shard/application-placement.ts";
import { mayWait } from "../../shard/may-wait.ts";
import type { ObservedApplication } from "../../shard/parse-application.ts";
import { type ApplicationAction, deletionOf, planAbsence, planApplication } from "../../shard/plan-application.ts";
import { renderApplication, type Target, targetOf } from "../../shard/render-application.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import { describeSpan } from "../../telemetry/tracing.ts";
import { type ObjectWriter, type Settlement, UNSURE_AGAIN_MS } from "../apply-object.ts";
import { type Host, type Hosts, UNLISTED_AGAIN_MS } from "../find-hosts.ts";
import type { Requests } from "../keys.ts";
import type { KnownApplications, Rows } from "../read-and-record-rows.ts";
import type { Progress } from "../report-progress.ts";
import { waits } from "../trouble.ts";
import { createDeletionTimeouts } from "./deletion-timeouts.ts";
import type { Pacing } from "./pace-applications.ts";
import type { WaitForPrerequisites } from "./read-applications.ts";

export interface ApplyApplicationDeps {
  readonly rows: Pick<Rows, "readApplication" | "acknowledge" | "forget">;
  readonly applicationRows: Pick<KnownApplications, "take" | "remove">;
  readonly waitForPrerequisites: WaitForPrerequisites;
  readonly hosts: Pick<Hosts, "find" | "whyNot">;
  readonly writer: ObjectWriter;
  readonly progress: Progress;
  readonly destination: Destination;
  readonly clock: Clock;
  readonly pacing: Pick<Pacing, "admits">;
  readonly requests: Pick<Requests, "requestApplication" | "requestSync">;
}

/** An application's row, and the host of the instance that owns its unit. */
interface Placed {
  readonly row: DesiredApplication;
  readonly host: Host;
}

type Plan = (observed: ObservedApplication | undefined) => ApplicationAction;

/** How soon to try again while a sync is being stopped, in ms. Argo CD's report that it has stopped does not queue this key. */
const REST_AGAIN_MS = 250;

/**
 * Returns the work of one key: it makes the Argo CD Application of that row equal to the row, or removes it.
 *
 * It writes nothing while a move holds the unit, or before the objects of the engine cluster are listed. It creates or
 * changes an Application only once the unit's prerequisites stand at the desired revision. What it waits for, and each
 * failure, is reported on the application's operation; failures are thrown again, for the queue to retry.
 */
export function createApplyApplication(deps: ApplyApplicationDeps) {
  const { rows, applicationRows, hosts, progress } = deps;
  const timeouts = createDeletionTimeouts(deps.clock);

  const applyRow = async (row: DesiredApplication, signal: AbortSignal): Promise<WorkResult | void> => {
    const { application, unit } = row;
    const isWanted = deletionOf(application) === "none";
    // A unit without owner was never placed: no instance has anything of it.
    if (unit.owner === undefined) return isWanted ? undefined : rows.forget(application.id, signal);
    const host = await hosts.find(unit.owner, signal);
    if (host === undefined) return waitForHost(row, signal);
    if (!host.engine.isSynced())
      return progress.waits(application, waits.unlisted(host.engine.cluster), signal).then(() => ({ requeueAfterMs: UNLISTED_AGAIN_MS }));
    const own = { server: ownServer({ unit, instance: host.instance }, deps.destination) };
    const target = targetOf(row, application, { own, environment: row.environment });
    if (target === undefined) return removeWithoutTarget({ row, host }, signal);
    return waitUnread(row, signal) ?? deps.waitForPrerequisites(row, signal) ?? apply({ row, host }, target, signal);
  };

  /**
   * Lets an application wait whose workspace was not seen to be able to read its repository, or can do so no more. What stands of it stays as it
   * is; its end does not wait.
   */
  const waitUnread = ({ application, access }: DesiredApplication, signal: AbortSignal): Promise<WorkResult> | undefined => {
    if (access === undefined || access.state === "proven" || deletionOf(application) !== "none") return undefined;
    return progress.waits(application, waits.repository(application.spec.source.repoUrl), signal);
  };

  /** There is no host to write to. That is reported, unless the instance is another process's to write to. */
  const waitForHost = async ({ application, unit }: DesiredApplication, signal: AbortSignal): Promise<WorkResult | void> => {
    const what = unit.owner === undefined ? undefined : hosts.whyNot(unit.owner);
    return what === undefined ? progress.done(application.id) : progress.waits(application, what, signal);
  };

  const apply = async ({ row, host }: Placed, target: Target, signal: AbortSignal): Promise<WorkResult | void> => {
    const { application, unit, workspace } = row;
    const placement = { unit, workspace, instance: host.instance };
    const { uid, desiredRevision } = application;
    describeSpan({ "argosy.application.uid": uid, "argosy.revision": desiredRevision, "argosy.epoch": unit.epoch });
    const desired = renderApplication(placement, application, target);
    const request = timeouts.of(application);
    const plan: Plan = (observed) => planApplication(desired, request, observed);
    if (request.deletion === "none" && !mayBegin({ row, host }, plan)) return progress.waits(application, waits.turn, signal);
    const end = await deps.writer.apply({ objects: host.engine.applications, at: desired.at, plan, name: "application" }, signal);
    if (end.kind === "await-rest") return { ...(await progress.waits(application, waits.rest, signal)), requeueAfterMs: REST_AGAIN_MS };
    if (end.kind === "unsure") return waitUnsure(row, signal);
    timeouts.forget(application.id);
    if (end.kind === "await-end") return progress.ends(row, end.observed, signal);
    progress.done(application.id);
    if (end.kind === "gone") await rows.forget(application.id, signal);
    if (end.kind === "settled") return acknowledge(row, { placement, desired, observed: end.observed }, signal);
  };

  /** Whether the next step may be taken now. If not, pacing has put it in line, and queues this key again when its turn comes. */
  const mayBegin = ({ row: { application, unit }, host }: Placed, plan: Plan): boolean => {
    const at = { namespace: host.instance.namespace, name: application.argoName };
    const seen = host.engine.applications.get(at);
    return !mayWait(plan(seen), seen) || deps.pacing.admits({ kind: "application", id: application.id, unit: unit.id, at }, host);
  };

  /**
   * Records that the Application stands as its row desires, unless that is recorded already. Syncs of a manual one
   * wait for that: it queues them.
   */
  const acknowledge = async (
    { application, unit, acknowledged }: DesiredApplication,
    { placement, ...standing }: Pick<StandingObject, "desired" | "observed"> & { readonly placement: ApplicationPlacement },
    signal: AbortSignal,
  ): Promise<void> => {
    const what = { kind: "application", subject: application.id, ...standing } as const;
    const notifications = acknowledgementOf(placement, what, acknowledged === undefined ? [] : [acknowledged]);
    if (notifications === undefined) return;
    await rows.acknowledge(notifications, signal);
    if (application.spec.type === "manual") deps.requests.requestSync(application.id, unit.id);
  };

  /** The application has nowhere to deploy to: its Application is removed from the instance, and what it has deployed stays. */
  const removeWithoutTarget = async ({ row, host }: Placed, signal: AbortSignal): Promise<WorkResult | void> => {
    const { application, unit } = row;
    const at = { namespace: host.instance.namespace, name: application.argoName };
    const fence = applicationFence(unit, application);
    const deletion = deletionOf(application);
    const plan: Plan = (observed) => planAbsence(fence, deletion, observed);
    const end: Settlement<ObservedApplication> = await deps.writer.apply(
      { objects: host.engine.applications, at, plan, name: "application" },
      signal,
    );
    if (end.kind === "await-end") return progress.ends(row, end.observed, signal);
    if (end.kind === "unsure") return waitUnsure(row, signal);
    const environment = application.spec.destination.environment ?? "";
    if (deletion === "none") return progress.waits(application, waits.environment(environment), signal);
    progress.done(application.id);
    if (end.kind === "gone") await rows.forget(application.id, signal);
  };

  /** Nobody has answered a creation, so the Application may still appear: absence is believed only once it cannot any more. */
  const waitUnsure = async ({ application }: DesiredApplication, signal: AbortSignal): Promise<WorkResult> => ({
    ...(await progress.waits(application, waits.unanswered, signal)),
    requeueAfterMs: UNSURE_AGAIN_MS,
  });

  /** The row that was read for this run, or else is read now. A row that comes in meanwhile is not used: the key runs again, and reads it anew. */
  const rowOf = async (id: ApplicationId, signal: AbortSignal): Promise<DesiredApplication | undefined> => {
    const kept = applicationRows.take(id);
    if (kept !== undefined) return kept;
    const row = await rows.readApplication(id, signal);
    if (applicationRows.remove(id)) deps.requests.requestApplication(id, row?.unit.id);
    return row;
  };

  return async (id: ApplicationId, signal: AbortSignal): Promise<WorkResult | void> => {
    const row = await rowOf(id, signal);
    // During a move only the mover writes for the unit; at the end of the move this key is queued again.
    if (row === undefined || row.unit.phase === "MOVING") return void [timeouts.forget(id), progress.done(id)];
    try {
      return await applyRow(row, signal);
    } catch (error) {
      await progress.failed(row.application, error, signal);
      throw error;
    }
  };
}
