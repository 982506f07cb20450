import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { acknowledgementOf } from "../../shard/acknowledge.ts";
import type { ObservedApplication } from "../../shard/parse-application.ts";
import { deletionOf, planApplication } from "../../shard/plan-application.ts";
import { renderApplication } from "../../shard/render-application.ts";
import type { Destination } from "../../shard/seat.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";
import type { EndWatch } from "../ends/controller.ts";
import type { Carrier } from "../object/controller.ts";
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
  readonly endWatch: EndWatch;
  readonly destination: Destination;
  /** Asks for the unit's objects, which must stand before the unit's Applications. */
  readonly requestUnit: (id: UnitId) => void;
}

const UNSYNCED_RETRY_MS = 250;

export function createApplicationController(deps: ApplicationControllerDeps): ApplicationController {
  const { rows, hosts, endWatch } = deps;
  const primed = new Map<ApplicationId, DesiredApplication>();
  const waiting = new Map<UnitId, Map<ApplicationId, DesiredApplication>>();

  const bringAbout = async (row: DesiredApplication, host: Host, signal: AbortSignal): Promise<void> => {
    const { application, unit, workspace, acknowledged } = row;
    const seat = { unit, workspace, instance: host.instance };
    const desired = renderApplication(seat, application, deps.destination);
    const deletion = deletionOf(application);
    const plan = (observed: ObservedApplication | undefined) => planApplication(desired, deletion, observed);
    const end = await deps.carrier.carryOut({ objects: host.engine.applications, at: desired.at, plan, name: "application" }, signal);
    endWatch.note(application.id, end);
    if (end.kind === "gone") await rows.forget(application.id, signal);
    if (end.kind !== "settled") return;
    const standing = { kind: "application", subject: application.id, desired, observed: end.observed } as const;
    const news = acknowledgementOf(seat, standing, acknowledged === undefined ? [] : [acknowledged]);
    if (news !== undefined) await rows.acknowledge(news, signal);
  };

  const awaitUnit = (row: DesiredApplication): void => {
    waiting.set(row.unit.id, (waiting.get(row.unit.id) ?? new Map()).set(row.application.id, row));
    deps.requestUnit(row.unit.id);
  };

  const reconcileRow = async (row: DesiredApplication, signal: AbortSignal): Promise<WorkResult | void> => {
    const { application, unit } = row;
    const isWanted = deletionOf(application) === "none";
    // Never placed: nothing of it can stand anywhere.
    if (unit.owner === undefined) return isWanted ? undefined : rows.forget(application.id, signal);
    const host = await hosts.find(unit.owner, signal);
    if (host === undefined) return;
    if (!host.engine.isSynced()) return { requeueAfterMs: UNSYNCED_RETRY_MS };
    if (isWanted && row.unitAppliedRevision < unit.desiredRevision) return awaitUnit(row);
    await bringAbout(row, host, signal);
  };

  return {
    prime: (row) => void primed.set(row.application.id, row),
    async reconcile(id, signal) {
      const row = primed.get(id) ?? (await rows.readApplication(id, signal));
      primed.delete(id);
      if (row === undefined) return endWatch.note(id, undefined);
      return reconcileRow(row, signal);
    },
    release(unitId, revision) {
      const released = [...(waiting.get(unitId)?.values() ?? [])];
      waiting.delete(unitId);
      for (const row of released) {
        if (!primed.has(row.application.id)) primed.set(row.application.id, { ...row, unitAppliedRevision: revision });
      }
      return released.map((row) => row.application.id);
    },
  };
}
