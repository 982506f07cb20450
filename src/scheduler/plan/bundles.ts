import type { Millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { type LoadVector, ZERO_LOAD } from "../../domain/load.ts";
import { NO_WISH, type Wish } from "../eligibility.ts";
import { METRICS_LIMITS } from "../load/judge-metrics.ts";
import { partsApart } from "../unit-needs.ts";
import type { PlannerPolicy } from "./planner-policy.ts";
import type { PlanUnit } from "./snapshot.ts";

/** What is placed as one: a unit, or all units of the class that name one `together` group. */
export interface Bundle {
  readonly index: number;
  /** What the ring is asked for: the unit's id, or the group's name. */
  readonly key: string;
  readonly units: readonly PlanUnit[];
  /** In the order of LOAD_DIMENSIONS, each a whole number that can be a load. */
  readonly load: readonly number[];
  readonly wish: Wish;
  /** Nothing but room matters to it. */
  readonly isPlain: boolean;
}

/**
 * Units in order of id, and what is placed as one. Sub-units of one workspace live apart, as if they named a group of their own.
 */
export function bundlesOf(units: readonly PlanUnit[], at: Millis, policy: PlannerPolicy): readonly Bundle[] {
  const partsOf = countBy(units, ({ workspaceId }) => workspaceId);
  const groups = new Map<string, PlanUnit[]>();
  const members = units.flatMap((unit): PlanUnit[][] => {
    const name = unit.needs?.together;
    if (name === undefined) return [[unit]];
    const group = groups.get(name);
    if (group !== undefined) return group.push(unit) > 0 ? [] : [];
    const first = [unit];
    groups.set(name, first);
    return [first];
  });
  return members.map((each, index) => {
    const wish = wishOf(each, partsOf, { at, policy });
    return { index, key: keyOf(each), units: each, load: sumOf(each), wish, isPlain: wish === NO_WISH };
  });
}

/** A load as numbers that can be reckoned with: what cannot be a load counts as none, what is beyond all reason as the most. */
export function amountsOf(load: LoadVector): readonly number[] {
  const { applications, clusterEntries, cachedResources, milliCpu, gitPerMinute } = load;
  return [amountOf(applications), amountOf(clusterEntries), amountOf(cachedResources), amountOf(milliCpu), amountOf(gitPerMinute)];
}

function amountOf(value: number): number {
  return value > 0 ? Math.min(METRICS_LIMITS.largest, Math.floor(value)) : 0;
}

function keyOf(units: readonly PlanUnit[]): string {
  const [first] = units;
  const group = first?.needs?.together;
  return group === undefined ? (first?.id ?? "") : `together ${group}`;
}

function sumOf([one, ...others]: readonly PlanUnit[]): readonly number[] {
  const first = amountsOf(one?.load ?? ZERO_LOAD);
  const rest = others.map(({ load }) => amountsOf(load));
  return rest.reduce((sum, amounts) => sum.map((amount, index) => amount + (amounts[index] as number)), first);
}

interface When {
  readonly at: Millis;
  readonly policy: PlannerPolicy;
}

function wishOf(units: readonly PlanUnit[], partsOf: ReadonlyMap<string, number>, when: When): Wish {
  const isSplit = ({ workspaceId }: PlanUnit): boolean => partsOf.get(workspaceId) !== 1;
  if (units.every((unit) => unit.needs === undefined && unit.failed === undefined && !isSplit(unit))) return NO_WISH;
  const apart = units.flatMap((unit) => [unit.needs?.apart ?? [], isSplit(unit) ? partsApart(unit.workspaceId) : []].flat());
  return { needs: units.flatMap(({ needs }) => needs ?? []), apart, failedAt: units.flatMap((unit) => failedAt(unit, when)) };
}

function failedAt({ failed }: PlanUnit, { at, policy }: When): readonly InstanceId[] {
  return failed !== undefined && at < failedUntil(failed, policy) ? [failed.to] : [];
}

/** Until when a unit whose move failed is left alone: six hours, doubling with each failure in a row, a day at most. */
export function failedUntil({ times, at }: NonNullable<PlanUnit["failed"]>, policy: PlannerPolicy): number {
  const doublings = Math.min(Math.max(times, 1) - 1, 16);
  return at + Math.min(policy.coolDownMs, policy.failedCoolDownMs * 2 ** doublings);
}

function countBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) {
    const name = key(item);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
