import { performance } from "node:perf_hooks";
import { type Millis, millis } from "../../src/domain/clock.ts";
import { type LoadVector, ZERO_LOAD } from "../../src/domain/load.ts";
import { createSeededRng } from "../../src/runtime/rng.ts";
import { judgeMetrics } from "../../src/scheduler/load/judge-metrics.ts";
import { ewma } from "../../src/scheduler/load/planning-load.ts";
import { nextAbove } from "../../src/scheduler/plan/next-class-state.ts";
import { type Plan, planMoves } from "../../src/scheduler/plan/plan-moves.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "../../src/scheduler/plan/planner-policy.ts";
import type { PlanCandidate, PlanSnapshot, PlanUnit, RecentMove } from "../../src/scheduler/plan/snapshot.ts";
import { createRingMemo } from "../../src/scheduler/ring-memo.ts";
import { UNLIMITED_POLICY } from "./events.ts";
import { afterMoves, makeFleet, START, snapshotOf, type Tail } from "./fleets.ts";
import { count, countAbove, openTally, type Tally } from "./tally.ts";
import { createTraffic, type Traffic } from "./traffic.ts";

export interface DriftShape {
  readonly tail: Tail;
  readonly seed: number;
  readonly workspaces: number;
  readonly instances: number;
  readonly utilisation: number;
  readonly warmUpDays: number;
  readonly days: number;
  /** Minutes between two samples. */
  readonly tickMinutes: number;
  readonly policy: PlannerPolicy;
}

export interface DriftOutcome {
  readonly moves: number;
  readonly perWorkspaceYear: number;
  /** Moves of a unit that had moved less than 24 h before. */
  readonly movedAgain: number;
  /** Share of all load. */
  readonly loadPerDay: number;
  /**
   * Load moved, over the least that brings instances above the bound back to it (`overBound`) or down to what plans
   * aim at (`overTarget`).
   */
  readonly overBound: number;
  readonly overTarget: number;
  /**
   * Load moved, over the least with at most one move more than the fewest for each overloaded instance (`overFew`);
   * and that least over the least without this limit (`fewOverTarget`).
   */
  readonly overFew: number;
  readonly fewOverTarget: number;
  /** Share of instance-time above the bound by planning load. */
  readonly aboveBound: number;
  /** Largest planning load of an instance over the mean, right after a plan that moved something. */
  readonly maxOverMean: number;
  /** Share of instance-time above 90 % by the load of the moment. */
  readonly overloaded: number;
  readonly reEvaluated: readonly [good: number, all: number];
  readonly plans: number;
  readonly planMs: readonly number[];
}

export const DRIFT: Omit<DriftShape, "tail" | "seed"> = {
  workspaces: 10_000,
  instances: 50,
  utilisation: 0.62,
  warmUpDays: 10,
  days: 35,
  tickMinutes: 15,
  policy: DEFAULT_PLANNER_POLICY,
};

const DAY_MINUTES = 1_440;
const HOUR_MS = 3_600_000;
const NOISE = 0.2;

/** Everything that changes while a run goes on. */
interface Run {
  readonly shape: DriftShape;
  readonly candidates: readonly PlanCandidate[];
  readonly traffic: Traffic;
  /** Planning load of each unit. */
  readonly smooth: Float64Array;
  readonly ringOf: ReturnType<ReturnType<typeof createRingMemo>>;
  units: readonly PlanUnit[];
  /** Index of each unit's instance. */
  at: Int32Array;
  above: ReadonlyMap<string, Millis>;
  recent: readonly (RecentMove & { readonly at: number })[];
  reference: LoadVector | undefined;
  readonly tally: Tally;
}

/**
 * A fleet for 35 days after 10 days of warm-up. Its load is measured with 20 % of noise. Every hour a plan is made
 * with the real policy and its budgets, and carried out at once.
 */
export function runDrift(shape: DriftShape): DriftOutcome {
  const run = begin(shape);
  const { tally, traffic, smooth } = run;
  const elapsed = shape.tickMinutes / DAY_MINUTES;
  for (let minute = -shape.warmUpDays * DAY_MINUTES; minute < shape.days * DAY_MINUTES; minute += shape.tickMinutes) {
    traffic.step(minute, shape.tickMinutes);
    for (let index = 0; index < smooth.length; index += 1) {
      const measured = (traffic.present[index] as number) * Math.max(0, 1 + NOISE * traffic.draw());
      smooth[index] = ewma(smooth[index] as number, measured, elapsed);
    }
    if (minute >= 0) countOverloaded(run);
    if (minute % 60 === 0) everyHour(run, minute);
  }
  return {
    moves: tally.moves,
    perWorkspaceYear: tally.moves / shape.workspaces / (shape.days / 365),
    movedAgain: tally.moves === 0 ? 0 : tally.again / tally.moves,
    loadPerDay: tally.load / shape.days,
    overBound: tally.load / tally.toBound,
    overTarget: tally.load / tally.toTarget,
    overFew: tally.load / tally.withFew,
    fewOverTarget: tally.withFew / tally.toTarget,
    aboveBound: tally.above / tally.instanceHours,
    maxOverMean: tally.maxOverMean,
    overloaded: tally.over / tally.instanceTicks,
    reEvaluated: [tally.good, tally.all],
    plans: tally.plans,
    planMs: tally.planMs,
  };
}

function begin(shape: DriftShape): Run {
  const { tail, workspaces, instances, seed, utilisation } = shape;
  const { candidates, units } = makeFleet({ tail, workspaces, instances, utilisation: { milliCpu: utilisation }, seed });
  const ringOf = createRingMemo()("drift");
  const placed = afterMoves(units, planMoves(snapshotOf({ candidates, units }), { policy: UNLIMITED_POLICY, ringOf }).moves);
  const base = Float64Array.from(placed, ({ load }) => load.milliCpu);
  return {
    shape,
    candidates,
    traffic: createTraffic(base, createSeededRng(`drift ${tail} ${seed}`)),
    smooth: Float64Array.from(base),
    ringOf,
    units: placed,
    at: whereIs(candidates, placed),
    above: new Map(),
    recent: [],
    reference: undefined,
    tally: openTally(),
  };
}

function whereIs(candidates: readonly PlanCandidate[], units: readonly PlanUnit[]): Int32Array {
  const index = new Map<string | undefined, number>(candidates.map(({ id }, candidate) => [id, candidate]));
  return Int32Array.from(units, ({ owner }) => index.get(owner) ?? -1);
}

/** Utilisation of each instance by some load of its units. */
function sharesBy({ candidates, at }: Run, loads: Float64Array): Float64Array {
  const sums = new Float64Array(candidates.length);
  for (let index = 0; index < loads.length; index += 1)
    sums[at[index] as number] = (sums[at[index] as number] as number) + (loads[index] as number);
  return sums.map((sum, candidate) => sum / (candidates[candidate] as PlanCandidate).capacity.milliCpu);
}

function countOverloaded(run: Run): void {
  const shares = sharesBy(run, run.traffic.present);
  run.tally.instanceTicks += shares.length;
  run.tally.over += shares.filter((share) => share > 0.9).length;
}

/**
 * Plans, unless no instance has been above the bound for long enough. Then the plan is known to be empty, which is
 * checked in the first hour of every day.
 */
function everyHour(run: Run, minute: number): void {
  const at = millis(START + minute * 60_000);
  const shares = sharesBy(run, run.smooth);
  const mean = meanShare(run);
  if (minute >= 0) countAbove(run.tally, shares, Math.max(0.6, 1.1 * mean));
  const isAbove = shares.some((share) => share > Math.max(0.6, 1.099 * mean));
  if (!isAbove && minute % DAY_MINUTES !== 0) {
    run.above = new Map();
    return;
  }
  run.recent = run.recent.filter((move) => at - move.at < HOUR_MS);
  run.units = run.units.map((unit, index) => ({ ...unit, load: { ...ZERO_LOAD, milliCpu: Math.ceil(run.smooth[index] as number) } }));
  const snapshot = withAbove(
    snapshotOf({ candidates: run.candidates, units: run.units }, { at, metrics: judged(run, at), recentMoves: run.recent }),
    run,
  );
  const { persistMs, persistFullMs } = run.shape.policy;
  const isRipe = snapshot.candidates.some(
    ({ aboveSince }, candidate) =>
      aboveSince !== undefined && at - aboveSince >= ((shares[candidate] as number) > 0.899 ? persistFullMs : persistMs),
  );
  if (!isRipe && minute % DAY_MINUTES !== 0) return;
  const from = performance.now();
  const plan = planMoves(snapshot, { policy: run.shape.policy, ringOf: run.ringOf });
  run.tally.planMs.push(performance.now() - from);
  if (!isRipe && plan.moves.length > 0) throw new Error("a plan moved units inside the band");
  if (minute >= 0) count(run.tally, plan, { snapshot, policy: run.shape.policy });
  carryOut(run, plan, at);
}

function meanShare({ candidates, smooth }: Run): number {
  return smooth.reduce((a, b) => a + b, 0) / candidates.reduce((sum, { capacity }) => sum + capacity.milliCpu, 0);
}

function judged(run: Run, at: Millis): PlanSnapshot["metrics"] {
  const total = { ...ZERO_LOAD, milliCpu: Math.round(run.traffic.present.reduce((a, b) => a + b, 0)) };
  const metrics = judgeMetrics({ now: at, reports: [{ instance: "all", at, total }], reference: run.reference });
  if (metrics.kind === "trusted") run.reference = total;
  return metrics;
}

function withAbove(bare: PlanSnapshot, run: Run): PlanSnapshot {
  const candidates = bare.candidates.map((candidate) => ({ ...candidate, aboveSince: run.above.get(candidate.id) }));
  run.above = nextAbove({ ...bare, candidates }, run.shape.policy);
  return { ...bare, candidates };
}

function carryOut(run: Run, { moves }: Plan, at: Millis): void {
  if (moves.length === 0) return;
  const moved = new Set<string>(moves.map(({ unit }) => unit));
  run.units = afterMoves(run.units, moves).map((unit) => (moved.has(unit.id) ? { ...unit, movedAt: at } : unit));
  run.at = whereIs(run.candidates, run.units);
  run.recent = [...run.recent, ...moves.flatMap(({ unit, from, to }) => (from === undefined ? [] : [{ unit, from, to, at }]))];
}
