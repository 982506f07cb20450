import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { ObservedObject } from "./managed-object.ts";
import { unitOf } from "./parse-application.ts";

/**
 * Kinds of object that stand for a unit and say so by their labels: on its owner, and in its namespace the owner binding of a part, which may be given up while
 * the namespace stays.
 */
export type LeftoverKind = "project" | "entry" | "repository" | "account" | "part-binding";

/** An object that stands on an instance for a unit. */
export interface UnitObject {
  readonly kind: LeftoverKind;
  readonly observed: ObservedObject;
}

/** Where a unit lives, as its row says. */
export interface Whereabouts {
  readonly owner: InstanceId | undefined;
  readonly epoch: number;
}

export interface LeftoverFacts {
  readonly instanceId: InstanceId;
  readonly objects: readonly UnitObject[];
  /** Of every unit that the objects name; one that is not there has no row any more. Read after the objects were seen. */
  readonly units: ReadonlyMap<UnitId, Whereabouts>;
  /** Units of which Applications stand on the instance. */
  readonly inUse: ReadonlySet<UnitId>;
}

/** Rows that vanish by the dozen are a sign of a lost or restored database, not of users. */
export const REMOVAL_LIMIT = 10;

/**
 * Objects that may go because their instance has no business with their unit: it lives elsewhere under an epoch at least as new, or
 * is gone. One of a newer epoch is on its way to become right. What Applications need stays as long as they do, except credentials. An owner binding belongs
 * to no instance: that of a part goes when its unit is gone, as when a call that was long on its way has made it anew.
 */
export function judgeLeftovers({ instanceId, objects, units, inUse }: LeftoverFacts): readonly UnitObject[] {
  const homeless = new Set(objects.flatMap(({ observed }) => unitOf(observed) ?? []).filter((id) => !units.has(id)));
  return objects.filter(({ kind, observed }) => {
    const id = unitOf(observed);
    if (id === undefined || observed.isDeleting || (inUse.has(id) && kind !== "repository")) return false;
    const unit = units.get(id);
    if (unit === undefined) return homeless.size <= REMOVAL_LIMIT;
    if (kind === "part-binding") return false;
    return unit.owner !== instanceId && (observed.epoch ?? 0) <= unit.epoch;
  });
}
