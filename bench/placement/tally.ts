import { reEvaluatesBlockedBy } from "../../src/scheduler/plan/budget.ts";
import type { Plan } from "../../src/scheduler/plan/plan-moves.ts";
import type { PlannerPolicy } from "../../src/scheduler/plan/planner-policy.ts";
import { reEvaluates, reEvaluatesStay } from "../../src/scheduler/plan/record.ts";
import type { PlanSnapshot } from "../../src/scheduler/plan/snapshot.ts";
import { leastOfFew } from "./lower-bounds.ts";

const DAY_MS = 24 * 3_600_000;

/** What is summed up while a fleet drifts. */
export interface Tally {
  moves: number;
  again: number;
  load: number;
  toBound: number;
  toTarget: number;
  withFew: number;
  plans: number;
  good: number;
  all: number;
  over: number;
  instanceTicks: number;
  above: number;
  instanceHours: number;
  maxOverMean: number;
  readonly planMs: number[];
}

export function openTally(): Tally {
  const none = { moves: 0, again: 0, load: 0, toBound: 0, toTarget: 0, withFew: 0, plans: 0, good: 0, all: 0 };
  return { ...none, over: 0, instanceTicks: 0, above: 0, instanceHours: 0, maxOverMean: 0, planMs: [] };
}

export function countAbove(tally: Tally, shares: Float64Array, bound: number): void {
  tally.instanceHours += shares.length;
  tally.above += shares.filter((share) => share > bound).length;
}

export interface Made {
  readonly snapshot: PlanSnapshot;
  readonly policy: PlannerPolicy;
}

export function count(tally: Tally, { moves, records, report }: Plan, { snapshot, policy }: Made): void {
  const { at, units } = snapshot;
  tally.plans += 1;
  tally.moves += moves.length;
  tally.load += report.moved / 1e6;
  if (moves.length > 0) {
    const last = new Map<string, number | undefined>(units.map(({ id, movedAt }) => [id, movedAt]));
    tally.again += moves.filter(({ unit }) => at - (last.get(unit) ?? 0) < DAY_MS).length;
    tally.toBound += report.lowerBound.load / 1e6;
    tally.toTarget += report.lowerBound.toTarget / 1e6;
    tally.withFew += withFew(snapshot, report, policy);
    tally.maxOverMean = Math.max(tally.maxOverMean, report.after.overMean / 1e6);
  }
  const verdicts = [
    ...[...records, ...report.unplaceable, ...report.withoutCandidate].map(reEvaluates),
    ...report.left.shown.map(reEvaluatesStay),
    ...report.blockedBy.map(reEvaluatesBlockedBy),
  ];
  tally.all += verdicts.length;
  tally.good += verdicts.filter(Boolean).length;
}

/**
 * The least load that overloaded instances have to give, as a share of all load, if each makes at most one move more
 * than the fewest.
 */
function withFew({ candidates, units, at }: PlanSnapshot, { bound, shedTo }: Plan["report"], { persistMs }: PlannerPolicy): number {
  const on = Map.groupBy(units, ({ owner }) => owner as string | undefined);
  const total = units.reduce((sum, { load }) => sum + load.milliCpu, 0);
  const given = candidates.map(({ id, capacity, aboveSince }) => {
    const loads = (on.get(id) ?? []).map(({ load }) => load.milliCpu);
    const sum = loads.reduce((a, b) => a + b, 0);
    const sheds = sum * 1e6 > bound * capacity.milliCpu && aboveSince !== undefined && at - aboveSince >= persistMs;
    return sheds ? leastOfFew(loads, sum - Math.floor((shedTo * capacity.milliCpu) / 1e6)) : 0;
  });
  return given.reduce((a, b) => a + b, 0) / total;
}
