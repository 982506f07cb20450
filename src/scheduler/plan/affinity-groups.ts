import type { Millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { LoadVector } from "../../domain/load.ts";
import { mapInTurns, type Resumable, visitInTurns } from "../../domain/resumable.ts";
import { NO_CONSTRAINTS, type PlacementConstraints } from "../eligibility.ts";
import { METRICS_LIMITS } from "../load/judge-metrics.ts";
import { partsApart } from "../unit-needs.ts";
import type { PlannerPolicy } from "./planner-policy.ts";
import type { PlanUnit } from "./snapshot.ts";

/** What is placed as one: a unit, or all units of the class that name one `together` group. */
export interface AffinityGroup {
  readonly index: number;
  /** Its key on the ring: the unit's id, or the group's name. */
  readonly key: string;
  readonly units: readonly PlanUnit[];
  /** In the order of LOAD_DIMENSIONS, each a whole number that can be a load. */
  readonly load: readonly number[];
  readonly constraints: PlacementConstraints;
  /** It has no constraints: only capacity matters to it. */
  readonly isPlain: boolean;
}

/**
 * The affinity groups of these units, in their order. Parts of one workspace live apart, as if they named an `apart` group of their own.
 */
export function* groupsInTurns(units: readonly PlanUnit[], at: Millis, policy: PlannerPolicy): Resumable<readonly AffinityGroup[]> {
  const split = yield* repeated(units);
  const groups = new Map<string, [PlanUnit, ...PlanUnit[]]>();
  const members: Members[] = [];
  yield* visitInTurns(units, (unit) => {
    const name = unit.needs?.together;
    const group = name === undefined ? undefined : groups.get(name);
    if (group !== undefined) return void group.push(unit);
    const first: [PlanUnit] = [unit];
    if (name !== undefined) groups.set(name, first);
    members.push(first);
  });
  const moment = { at, policy };
  return yield* mapInTurns(members, (each, index) => {
    const constraints = constraintsOf(each, split, moment);
    return { index, key: keyOf(each), units: each, load: sumOf(each), constraints, isPlain: constraints === NO_CONSTRAINTS };
  });
}

type Members = readonly [PlanUnit, ...PlanUnit[]];

/** A load as whole numbers that can be added: what cannot be a load counts as zero, what is implausibly large as the largest plausible load. */
export function amountsOf(load: LoadVector): readonly number[] {
  const { applications, clusterEntries, cachedResources, milliCpu, gitPerMinute } = load;
  return [amountOf(applications), amountOf(clusterEntries), amountOf(cachedResources), amountOf(milliCpu), amountOf(gitPerMinute)];
}

function amountOf(value: number): number {
  return value > 0 ? Math.min(METRICS_LIMITS.largest, Math.floor(value)) : 0;
}

function keyOf([{ id, needs }]: Members): string {
  return needs?.together === undefined ? id : `together ${needs.together}`;
}

function sumOf([first, ...others]: Members): readonly number[] {
  const rest = others.map(({ load }) => amountsOf(load));
  return rest.reduce((sum, amounts) => sum.map((amount, index) => amount + (amounts[index] as number)), amountsOf(first.load));
}

interface Moment {
  readonly at: Millis;
  readonly policy: PlannerPolicy;
}

function constraintsOf(units: readonly PlanUnit[], split: ReadonlySet<string>, moment: Moment): PlacementConstraints {
  const isSplit = ({ workspaceId, isPassing }: PlanUnit): boolean => isPassing === undefined && split.has(workspaceId);
  if (units.every((unit) => unit.needs === undefined && unit.failed === undefined && !isSplit(unit))) return NO_CONSTRAINTS;
  const apart = units.flatMap((unit) => [unit.needs?.apart ?? [], isSplit(unit) ? partsApart(unit.workspaceId) : []].flat());
  return { needs: units.flatMap(({ needs }) => needs ?? []), apart, failedAt: units.flatMap((unit) => failedAt(unit, moment)) };
}

/** Instances that a unit is not sent to now, because a move of it to there failed. */
export function failedAt({ failed }: PlanUnit, { at, policy }: Moment): readonly InstanceId[] {
  return failed !== undefined && at < failedUntil(failed, policy) ? [failed.to] : [];
}

/** Until when a unit whose move failed is left alone: six hours, doubling with each failure in a row, a day at most. */
export function failedUntil({ times, at }: NonNullable<PlanUnit["failed"]>, policy: PlannerPolicy): number {
  const doublings = Math.min(Math.max(times, 1) - 1, 16);
  return at + Math.min(policy.coolDownMs, policy.failedCoolDownMs * 2 ** doublings);
}

/** Workspaces that have more than one unit. */
function* repeated(units: readonly PlanUnit[]): Resumable<ReadonlySet<string>> {
  const seen = new Set<string>();
  const again = new Set<string>();
  yield* visitInTurns(units, ({ workspaceId }) => {
    if (seen.size === seen.add(workspaceId).size) again.add(workspaceId);
  });
  return again;
}
