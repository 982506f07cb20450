import type { InstanceId } from "../domain/ids.ts";
import type { Instance, InstanceState } from "../domain/instance.ts";

/** Which instances of a pool are too many. */
export interface Surplus {
  /** Those that hold nothing. */
  readonly empty: readonly Instance[];
  /** Those that hold units, and are too many all the same. */
  readonly held: readonly Instance[];
}

export interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly units: ReadonlyMap<InstanceId, number>;
}

/**
 * Chooses what is too many, the same whatever order the instances come in.
 *
 * Of those that hold nothing as many as there are beyond `min`: first failed ones, then unfinished, then cordoned, then active
 * ones, and among equals the newest (the highest number in its name). Of those that hold units as many as are then still
 * beyond `max`: first cordoned ones, so that a choice once made stays, then those with the fewest units, then the newest.
 */
export function chooseSurplus(instances: readonly Instance[], { min, max, units }: Bounds): Surplus {
  const unitsOf = (one: Instance): number => units.get(one.id) ?? 0;
  const empty = instances
    .filter((one) => unitsOf(one) === 0)
    .toSorted((a, b) => USEFULNESS[a.state] - USEFULNESS[b.state] || newestFirst(a, b))
    .slice(0, Math.max(0, instances.length - min));
  const left = instances.length - empty.length;
  const held = instances
    .filter((one) => unitsOf(one) > 0)
    .toSorted((a, b) => USEFULNESS[a.state] - USEFULNESS[b.state] || unitsOf(a) - unitsOf(b) || newestFirst(a, b))
    .slice(0, Math.max(0, left - max));
  return { empty, held };
}

const USEFULNESS: Readonly<Record<InstanceState, number>> = {
  RETIRED: 0,
  DRAINING: 0,
  FAILED: 0,
  REQUESTED: 1,
  CREATING: 1,
  WARMING: 1,
  CORDONED: 2,
  ACTIVE: 3,
};

function newestFirst(a: Instance, b: Instance): number {
  return numberOf(b) - numberOf(a) || (a.id < b.id ? -1 : 1);
}

function numberOf(instance: Instance): number {
  return Number(/-(\d+)$/.exec(instance.name)?.[1] ?? 0);
}
