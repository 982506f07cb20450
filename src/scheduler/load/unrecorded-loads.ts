import type { UnitId } from "../../domain/ids.ts";
import { LOAD_DIMENSIONS, type LoadDimension, type LoadVector } from "../../domain/load.ts";
import { COUNTED, type UnitLoad } from "./planning-load.ts";
import type { CountedLoad, SampledLoads } from "./take-sample.ts";

/** A unit's load as it is recorded, and as it has come to be since without being recorded. */
export interface FollowedLoad {
  readonly epoch: number;
  readonly recorded: UnitLoad;
  readonly load: UnitLoad;
}

export type FollowedLoads = ReadonlyMap<UnitId, FollowedLoad>;

/** Smaller differences are not recorded: a part of the larger value, and in any case so many thousandths. The usual application takes 2.5 thousandths of a core. */
const PLANNING = { part: 0.01, least: 0.5 };
const RECENT = { part: 0.1, least: 5 };

/**
 * Units with their loads as exact as they are known here. A mean over 24 hours goes on from what it was after the last sample, recorded or not: with the steps
 * that are not recorded left out it would stand still. Where somebody else has recorded another load since, that counts.
 */
export function withUnrecorded<Unit extends Pick<CountedLoad, "unitId" | "epoch" | "known">>(
  units: readonly Unit[],
  followed: FollowedLoads,
): readonly Unit[] {
  return units.map((unit) => {
    const own = followed.get(unit.unitId);
    const isOwn = own !== undefined && own.epoch === unit.epoch && unit.known !== undefined && isSame(own.recorded, unit.known);
    return isOwn ? { ...unit, known: own.load } : unit;
  });
}

/** Which units of a sample are to be recorded, and what is known of all of them then. `recorded`: the units as they were read. */
export function nextFollowed(
  sampled: SampledLoads["units"],
  recorded: readonly Pick<CountedLoad, "unitId" | "known">[],
): { readonly changed: SampledLoads["units"]; readonly followed: FollowedLoads } {
  const before = new Map(recorded.map(({ unitId, known }) => [unitId, known]));
  const changed = sampled.filter(({ unitId, load }) => isChanged(before.get(unitId), load));
  const isWritten = new Set(changed);
  const followed = sampled.map((unit): readonly [UnitId, FollowedLoad] => {
    const { unitId, epoch, load } = unit;
    return [unitId, { epoch, load, recorded: isWritten.has(unit) ? load : (before.get(unitId) ?? load) }];
  });
  return { changed, followed: new Map(followed) };
}

function isChanged(recorded: UnitLoad | undefined, load: UnitLoad): boolean {
  if (recorded === undefined) return true;
  return differs(recorded.planning, load.planning, PLANNING) || differs(recorded.recent, load.recent, RECENT);
}

function differs(before: LoadVector, after: LoadVector, { part, least }: typeof PLANNING): boolean {
  return LOAD_DIMENSIONS.some((dimension: LoadDimension) => {
    const [was, is] = [before[dimension], after[dimension]];
    return COUNTED.includes(dimension) ? was !== is : Math.abs(is - was) > Math.max(least, part * Math.max(was, is));
  });
}

function isSame(one: UnitLoad, other: UnitLoad): boolean {
  return LOAD_DIMENSIONS.every(
    (dimension) => one.planning[dimension] === other.planning[dimension] && one.recent[dimension] === other.recent[dimension],
  );
}
