import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import type { Application } from "../../domain/workspace.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { hashOfContent } from "../../shard/managed-object.ts";
import type { DesiredObject } from "../../shard/managed-object.ts";
import type { ObservedApplication } from "../../shard/parse-application.ts";
import { deletionOf, planApplication } from "../../shard/plan-application.ts";
import { renderApplication } from "../../shard/render-application.ts";
import type { Destination } from "../../shard/seat.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Carrier, Settlement } from "../object/controller.ts";
import type { Rows } from "../rows/controller.ts";
import type { Host, Hosts } from "../seats/controller.ts";

/** Makes one Argo CD Application equal to its row. */
export interface ApplicationController {
  /** Keeps a row that was just read for the next run, so that this run need not read it again. */
  prime(row: DesiredApplication): void;
  reconcile(id: ApplicationId, signal: AbortSignal): Promise<WorkResult | void>;
  /** The unit's objects stand at this revision: what waited for them may go on. Returns the ids. */
  release(unitId: UnitId, revision: number): readonly ApplicationId[];
}

export interface ApplicationControllerDeps {
  readonly rows: Rows;
  readonly hosts: Hosts;
  readonly carrier: Carrier;
  readonly destination: Destination;
  /** Asks for the unit's objects, which must stand before the unit's Applications. */
  readonly requestUnit: (id: UnitId) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** How long the end of an Application may take before somebody should look: hooks and finalizers of workloads need minutes. */
const BLOCKED_AFTER_MS = 5 * 60_000;
const UNSYNCED_RETRY_MS = 250;

export function createApplicationController(deps: ApplicationControllerDeps): ApplicationController {
  const { rows, hosts, clock, log } = deps;
  const primed = new Map<ApplicationId, DesiredApplication>();
  const waiting = new Map<UnitId, Map<ApplicationId, DesiredApplication>>();
  const blocked = new Set<ApplicationId>();
  deps.metrics
    .gauge("argosy_reconciler_blocked_deletions", "Applications whose deletion was asked for long ago and has not ended.")
    .collect(() => [{ value: blocked.size }]);

  const place = async (row: DesiredApplication, host: Host, signal: AbortSignal): Promise<void> => {
    const seat = { unit: row.unit, workspace: row.workspace, instance: host.instance };
    const desired = renderApplication(seat, row.application, deps.destination);
    const deletion = deletionOf(row.application);
    const plan = (observed: ObservedApplication | undefined) => planApplication(desired, deletion, observed);
    const end = await deps.carrier.carryOut({ objects: host.engine.applications, at: desired.at, plan, name: "application" }, signal);
    watchEnd(row.application, end);
    if (end.kind === "gone") await rows.forget(row.application.id, signal);
    if (end.kind === "settled") await acknowledge(row, host, { desired, observed: end.observed }, signal);
  };

  const acknowledge = async (row: DesiredApplication, host: Host, { desired, observed }: { desired: DesiredObject; observed: ObservedApplication }, signal: AbortSignal): Promise<void> => {
    const { acknowledged, application, unit } = row;
    const isKnown = acknowledged !== undefined && acknowledged.appliedRevision >= application.desiredRevision && acknowledged.epoch === unit.epoch && acknowledged.uid === observed.uid;
    if (isKnown) return;
    const common = { instanceId: host.instance.id, kind: "application", subject: application.id, epoch: unit.epoch } as const;
    await rows.acknowledge({ ...common, appliedRevision: application.desiredRevision, uid: observed.uid, hash: hashOfContent(desired) }, signal);
  };

  const watchEnd = (application: Application, end: Settlement<ObservedApplication>): void => {
    const since = end.kind === "await-end" ? end.observed.deletingSince : undefined;
    const isBlocked = since !== undefined && clock.now() - since > BLOCKED_AFTER_MS;
    if (isBlocked && !blocked.has(application.id) && end.kind === "await-end") {
      const { at, finalizers } = end.observed;
      log.warn({ application: application.id, at, since, finalizers, conditions: end.observed.report?.status.conditions }, "Waiting long for the end of an Application");
    }
    if (isBlocked) blocked.add(application.id);
    else blocked.delete(application.id);
  };

  return {
    prime: (row) => void primed.set(row.application.id, row),
    async reconcile(id, signal) {
      const row = primed.get(id) ?? (await rows.readApplication(id, signal));
      primed.delete(id);
      if (row === undefined) return void blocked.delete(id);
      const isWanted = deletionOf(row.application) === "none";
      // Never placed: nothing can stand anywhere.
      if (row.unit.owner === undefined) return isWanted ? undefined : rows.forget(id, signal);
      const host = await hosts.find(row.unit.owner, signal);
      if (host === undefined) return;
      if (!host.engine.isSynced()) return { requeueAfterMs: UNSYNCED_RETRY_MS };
      if (isWanted && row.unitAppliedRevision < row.unit.desiredRevision) {
        waiting.set(row.unit.id, (waiting.get(row.unit.id) ?? new Map()).set(id, row));
        return deps.requestUnit(row.unit.id);
      }
      await place(row, host, signal);
    },
    release(unitId, revision) {
      const released = [...(waiting.get(unitId)?.values() ?? [])];
      waiting.delete(unitId);
      for (const row of released) if (!primed.has(row.application.id)) primed.set(row.application.id, { ...row, unitAppliedRevision: revision });
      return released.map((row) => row.application.id);
    },
  };
}
