import type { ApplicationId, InstanceId, UnitId } from "../domain/ids.ts";
import type { InstancePlace } from "../domain/instance.ts";
import { isSyncDue } from "../shard/automated-sync.ts";
import type { ObjectAt, ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import type { ObservedApplication } from "../shard/parse-application.ts";
import { applicationOf, differsInReport, differsInRequest, holderOf, unitOf } from "../shard/parse-application.ts";
import { differsInRun } from "../shard/parse-sync.ts";

/**
 * Puts keys into the reconciler's queues: each asks for one run of that key's work. A key that waits already is not added twice.
 * `unit`: keys take turns by unit; absent, the unit is not known. `afterMs`: how long the key waits first, in ms; default 0.
 */
export interface Requests {
  requestApplication(id: ApplicationId, unit?: UnitId, afterMs?: number): void;
  requestUnit(id: UnitId): void;
  /** Queues a unit of which nothing is known to be wrong, to be compared behind all others. A `requestUnit` meanwhile does not wait for that. */
  reviewUnit(id: UnitId, afterMs: number): void;
  /** Queues the sync runs that users have requested for an application. */
  requestSync(id: ApplicationId, unit?: UnitId): void;
  requestInstance(id: InstanceId): void;
  /** Queues an Application's status, to be recorded. `key`: see `statusKey`. */
  requestStatus(key: string, unit?: UnitId): void;
  /** Queues an Application's status that may have been recorded, behind those that have changed. */
  reviewStatus(key: string, unit?: UnitId): void;
  /** Queues the fleet's one key. Its work reads which instances this process works on, and queues each of them. */
  requestFleet(): void;
  /** Queues the report that somebody else changed the unit's owner binding and that it was put back. */
  requestRepairReport(id: UnitId): void;
}

/** The queue key for recording the status of the Application at this place on an engine cluster. */
export function statusKey(cluster: string, at: ObjectAt): string {
  return `${cluster}|${at.namespace}|${at.name}`;
}

/** The instance's place that a `statusKey` names, as `placeKey` has it, and the Application's. */
export function parseStatusKey(key: string): { readonly place: string; readonly at: ObjectAt } {
  const [engineCluster = "", namespace = "", name = ""] = key.split("|");
  return { place: placeKey({ engineCluster, namespace }), at: { namespace, name } };
}

/** One string for each place. */
export function placeKey({ engineCluster, namespace }: InstancePlace): string {
  return `${engineCluster}|${namespace}`;
}

/** Which keys to queue after a change of an Application. */
export interface ApplicationRoute {
  readonly applications: readonly { readonly id: ApplicationId; readonly unit: UnitId | undefined }[];
  /** Whether to queue its status. */
  readonly isReport: boolean;
  /** The unit whose turn its status takes. */
  readonly unit: UnitId | undefined;
  /** Applications whose sync runs may go on. */
  readonly syncs: ApplicationRoute["applications"];
}

/**
 * Decides which keys to queue after a change of an Application.
 *
 * - The applications that its labels name, before and after the change: if it may differ from what we want, or if there is
 *   something to do about an automated sync. What Argo CD reports does not matter for this.
 * - Its status: if Argo CD reports something new, or the Application is gone.
 * - Its sync runs: see `syncsOf`.
 */
export function routeApplication(change: ObjectChange<ObservedApplication>): ApplicationRoute {
  const sides = sidesOf(change);
  const isRequest = change.kind === "delete" || differsInRequest(change.before, change.now) || isSyncDue(change.now);
  const ids = new Map(sides.map((side) => [applicationOf(side), unitOf(side)]));
  return {
    applications: isRequest ? [...ids].flatMap(([id, unit]) => (id === undefined ? [] : [{ id, unit }])) : [],
    isReport: change.kind === "delete" || differsInReport(change.before, change.now),
    unit: unitOf(change.kind === "delete" ? change.before : change.now),
    syncs: syncsOf(change),
  };
}

/** The application, if one of our sync runs has changed, or if a sync has ended for which the next run may have waited. */
function syncsOf(change: ObjectChange<ObservedApplication>): ApplicationRoute["syncs"] {
  if (change.kind === "delete" || !(differsInRun(change.before?.sync, change.now.sync) || makesPlace(change.before, change.now))) return [];
  const id = applicationOf(change.now);
  return id === undefined ? [] : [{ id, unit: unitOf(change.now) }];
}

/** Whether a sync, whoever asked for it, has ended on an Application that does not sync by itself: the next run may begin. */
function makesPlace(before: ObservedApplication | undefined, { isAutomated, sync }: ObservedApplication): boolean {
  return !isAutomated && sync.operation === undefined && before?.sync.operation !== undefined;
}

/**
 * Decides which keys to queue after a change of any other object: the unit that its labels name or, where they name no unit,
 * the instance. Labels before and after the change count.
 */
export function routeObject(change: ObjectChange<ObservedObject>): {
  readonly units: readonly UnitId[];
  readonly instances: readonly InstanceId[];
} {
  const sides = sidesOf(change);
  const units = new Set(sides.map(unitOf).filter((id) => id !== undefined));
  const instances = new Set(
    sides
      .filter((side) => unitOf(side) === undefined)
      .map(holderOf)
      .filter((id) => id !== undefined),
  );
  return { units: [...units], instances: [...instances] };
}

/** The object before the change and after it, as far as it was there. */
function sidesOf<T>(change: ObjectChange<T>): readonly T[] {
  if (change.kind === "delete") return [change.before];
  return change.before === undefined ? [change.now] : [change.before, change.now];
}
