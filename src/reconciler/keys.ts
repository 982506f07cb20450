import type { ApplicationId, InstanceId, UnitId } from "../domain/ids.ts";
import { isSyncDue } from "../shard/automated-sync.ts";
import type { ObjectAt, ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import type { ObservedApplication } from "../shard/parse-application.ts";
import { applicationOf, differsInReport, differsInRequest, holderOf, unitOf } from "../shard/parse-application.ts";
import { differsInRun } from "../shard/parse-sync.ts";

/** Asks for one run of a key's work. A key that waits already is not added twice. `unit`: whose turn it is, if that is known. `afterMs`: default 0. */
export interface Requests {
  requestApplication(id: ApplicationId, unit?: UnitId, afterMs?: number): void;
  requestUnit(id: UnitId): void;
  /** Asks for a unit of which nothing is known to be wrong; whoever asks for it meanwhile does not wait for that. */
  reviewUnit(id: UnitId, afterMs: number): void;
  /** Asks for the syncs that users want of an application. */
  requestSync(id: ApplicationId, unit?: UnitId): void;
  requestInstance(id: InstanceId): void;
  /** `key`: see `statusKey`. */
  requestStatus(key: string, unit?: UnitId): void;
  /** Asks which instances are ours, and then for each of them. */
  requestFleet(): void;
  requestRepairReport(id: UnitId): void;
}

/** The key under which an Application's status is recorded. */
export function statusKey(cluster: string, at: ObjectAt): string {
  return `${cluster}|${at.namespace}|${at.name}`;
}

/** What `statusKey` was made of. */
export function parseStatusKey(key: string): { readonly cluster: string; readonly at: ObjectAt } {
  const [cluster = "", namespace = "", name = ""] = key.split("|");
  return { cluster, at: { namespace, name } };
}

/** Which keys a change of an Application makes worth reconciling. */
export interface ApplicationRoute {
  readonly applications: readonly { readonly id: ApplicationId; readonly unit: UnitId | undefined }[];
  readonly isReport: boolean;
  /** Applications whose runs of syncs may go on. */
  readonly syncs: ApplicationRoute["applications"];
}

/** Whom a changed Application concerns: those named by its labels, before and after, and the status if it reports anew. */
export function routeApplication(change: ObjectChange<ObservedApplication>): ApplicationRoute {
  const sides = sidesOf(change);
  const isRequest = change.kind === "delete" || differsInRequest(change.before, change.now) || isSyncDue(change.now);
  const ids = new Map(sides.map((side) => [applicationOf(side), unitOf(side)]));
  return {
    applications: isRequest ? [...ids].flatMap(([id, unit]) => (id === undefined ? [] : [{ id, unit }])) : [],
    isReport: change.kind === "delete" || differsInReport(change.before, change.now),
    syncs: syncsOf(change),
  };
}

function syncsOf(change: ObjectChange<ObservedApplication>): ApplicationRoute["syncs"] {
  if (change.kind === "delete" || !(differsInRun(change.before?.sync, change.now.sync) || makesPlace(change.before, change.now))) return [];
  const id = applicationOf(change.now);
  return id === undefined ? [] : [{ id, unit: unitOf(change.now) }];
}

/** Whether a sync has ended of an Application whose syncs are asked for: the next one may begin. */
function makesPlace(before: ObservedApplication | undefined, { isAutomated, sync }: ObservedApplication): boolean {
  return !isAutomated && sync.operation === undefined && before?.sync.operation !== undefined;
}

/** Whom a change of any other object concerns: the units it was made for, else the instances. */
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

function sidesOf<T>(change: ObjectChange<T>): readonly T[] {
  if (change.kind === "delete") return [change.before];
  return change.before === undefined ? [change.now] : [change.before, change.now];
}
