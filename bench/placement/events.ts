import process from "node:process";
import { millis } from "../../src/domain/clock.ts";
import { LOAD_DIMENSIONS, type LoadDimension, loadVector } from "../../src/domain/load.ts";
import { createSeededRng } from "../../src/runtime/rng.ts";
import { type Plan, planMoves } from "../../src/scheduler/plan/plan-moves.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "../../src/scheduler/plan/planner-policy.ts";
import { reEvaluates } from "../../src/scheduler/plan/record.ts";
import type { PlanCandidate, PlanUnit } from "../../src/scheduler/plan/snapshot.ts";
import { createRingMemo } from "../../src/scheduler/ring-memo.ts";
import { changeOf, maxOverMean } from "./balance.ts";
import { argoCdBoundedLoads, type Baseline, fromScratch, plainRing, twoChoices } from "./baselines.ts";
import { aCandidate, afterMoves, type Fleet, type FleetShape, gaussian, makeFleet, START, snapshotOf } from "./fleets.ts";
import { type Bounds, lowerBounds } from "./lower-bounds.ts";

export const EVENTS = ["bulk", "add", "remove", "hot", "drift"] as const;
export type EventName = (typeof EVENTS)[number];

export interface Outcome {
  readonly algorithm: string;
  readonly event: EventName;
  readonly moves: number;
  /** Shares of all load. */
  readonly load: number;
  /**
   * The least load that has to move: to end within the bound (`lowerBound`), and to bring overloaded instances down
   * to what plans aim at (`target`).
   */
  readonly lowerBound: Bounds;
  readonly target: Bounds;
  readonly maxOverMean: number;
  /** CPU time of one whole computation, in ms: the least of a few, to leave out other processes of the machine. */
  readonly ms: number;
  readonly reEvaluated: readonly [good: number, all: number];
}

/** The planner's policy without budgets: what a plan does is measured here, not how it is spread over hours. */
export const UNLIMITED_POLICY: PlannerPolicy = {
  ...DEFAULT_PLANNER_POLICY,
  budgets: {
    ...DEFAULT_PLANNER_POLICY.budgets,
    movesPerPlan: 1e9,
    movesPerHour: 1e9,
    movesPerInstance: 1e9,
    movesPerCluster: 1e9,
    workspaces: 1e9,
  },
};

/** What instances above the bound are brought down to, over the mean: an overloaded one to the bound, others below it. */
const AIMED_AT: Readonly<Record<EventName, number>> = { bulk: 1.1, add: 1.1, remove: 1.1, hot: 1.1, drift: 1.05 };
/** How often a plan is computed. The first computation warms up; the ring that it builds is kept, as it is between plans. */
const RUNS = 4;

interface Scene {
  readonly candidates: readonly PlanCandidate[];
  readonly units: readonly PlanUnit[];
}

const BASELINES: Readonly<Record<string, Baseline>> = {
  "plain ring": plainRing,
  "Argo CD bounded loads": argoCdBoundedLoads,
  "two choices": twoChoices,
  "from scratch": fromScratch,
};

/** Runs one fleet through a bulk plan and four independent events, by the planner and by every baseline. */
export function runEvents(shape: FleetShape, withBaselines: boolean): readonly Outcome[] {
  const fleet = makeFleet(shape);
  const dimension = scarce(shape);
  const outcomes: Outcome[] = [];
  const planned = withPlanner(fleet, "bulk", dimension);
  outcomes.push(planned.outcome);
  for (const event of EVENTS.slice(1) as EventName[])
    outcomes.push(withPlanner(sceneAfter(event, { candidates: fleet.candidates, units: planned.units }, fleet), event, dimension).outcome);
  if (!withBaselines) return outcomes;
  for (const [algorithm, baseline] of Object.entries(BASELINES)) {
    const base = baseline(fleet.candidates, fleet.units, dimension);
    for (const event of EVENTS) {
      const scene = event === "bulk" ? fleet : sceneAfter(event, { candidates: fleet.candidates, units: base }, fleet);
      const [units, ms] = timed(() => baseline(scene.candidates, scene.units, dimension));
      outcomes.push({
        algorithm,
        event,
        ...changeOf(scene.units, units, dimension),
        lowerBound: lowerBounds(scene.candidates, scene.units, { dimension, to: 1.1 }),
        target: lowerBounds(scene.candidates, scene.units, { dimension, to: AIMED_AT[event] }),
        maxOverMean: maxOverMean(scene.candidates, units),
        ms,
        reEvaluated: [0, 0],
      });
    }
  }
  return outcomes;
}

function withPlanner(
  scene: Scene,
  event: EventName,
  dimension: LoadDimension,
): { readonly outcome: Outcome; readonly units: readonly PlanUnit[] } {
  const snapshot = snapshotOf(scene);
  const ringOf = createRingMemo()("bench");
  const runs = Array.from({ length: RUNS }, () => timed(() => planMoves(snapshot, { policy: UNLIMITED_POLICY, ringOf })));
  const [plan] = runs[0] as (typeof runs)[number];
  const ms = Math.min(...runs.map(([, each]) => each));
  if (runs.some(([each]) => JSON.stringify(each.moves) !== JSON.stringify(plan.moves))) throw new Error("two plans of one snapshot differ");
  const units = afterMoves(scene.units, plan.moves);
  const outcome: Outcome = {
    algorithm: "planner",
    event,
    ...changeOf(scene.units, units, dimension),
    lowerBound: lowerBounds(scene.candidates, scene.units, { dimension, to: 1.1 }),
    target: lowerBounds(scene.candidates, scene.units, { dimension, to: AIMED_AT[event] }),
    maxOverMean: maxOverMean(scene.candidates, units),
    ms,
    reEvaluated: reEvaluated(plan),
  };
  return { outcome, units };
}

function reEvaluated({ records, report }: Plan): readonly [good: number, all: number] {
  const all = [...records, ...report.unplaceable, ...report.withoutCandidate];
  return [all.filter(reEvaluates).length, all.length];
}

function timed<T>(run: () => T): readonly [T, number] {
  const from = process.cpuUsage();
  const result = run();
  const { user, system } = process.cpuUsage(from);
  return [result, (user + system) / 1_000];
}

/** The dimension that is scarcest by design. */
function scarce({ utilisation }: FleetShape): LoadDimension {
  return LOAD_DIMENSIONS.reduce((a, b) => ((utilisation[b] ?? 0) > (utilisation[a] ?? 0) ? b : a));
}

function sceneAfter(event: EventName, { candidates, units }: Scene, { shape }: Fleet): Scene {
  const rng = createSeededRng(`${event} ${shape.seed}`);
  switch (event) {
    case "bulk":
      return { candidates, units };
    case "add": {
      const capacity = loadVector((dimension) => (shape.utilisation[dimension] === undefined ? 0 : 1_000_000));
      return { candidates: [...candidates, { ...aCandidate(`argo-new-${shape.seed}`, 2, capacity), isFilling: true }], units };
    }
    case "remove": {
      const medium = candidates.filter(({ weight }) => weight === 2);
      const gone = medium[Math.floor(rng.next() * medium.length)];
      return { candidates: candidates.map((candidate) => (candidate === gone ? { ...candidate, state: "DRAINING" } : candidate)), units };
    }
    case "hot":
      return hot(candidates, units, scarce(shape));
    case "drift": {
      const drifted = units.map((unit) => {
        const factor = Math.exp(0.1 * gaussian(rng));
        return { ...unit, load: loadVector((dimension) => Math.round(unit.load[dimension] * factor)) };
      });
      return {
        candidates: candidates.map((candidate) => ({ ...candidate, aboveSince: millis(START - DEFAULT_PLANNER_POLICY.persistMs) })),
        units: drifted,
      };
    }
  }
}

/** The largest unit doubles, and its instance becomes overloaded. */
function hot(candidates: readonly PlanCandidate[], units: readonly PlanUnit[], dimension: LoadDimension): Scene {
  const largest = units.reduce((a, b) => (b.load[dimension] > a.load[dimension] ? b : a));
  const doubled = { ...largest, load: loadVector((each) => largest.load[each] * 2) };
  const scene = units.map((unit) => (unit === largest ? doubled : unit));
  const mean =
    scene.reduce((sum, { load }) => sum + load[dimension], 0) / candidates.reduce((sum, { capacity }) => sum + capacity[dimension], 0);
  const candidate = candidates.find(({ id }) => id === largest.owner);
  const load = scene.filter(({ owner }) => owner === largest.owner).reduce((sum, each) => sum + each.load[dimension], 0);
  const isTooFull = candidate !== undefined && load / candidate.capacity[dimension] > 1.1 * mean;
  return { candidates: candidates.map((each) => (each === candidate ? { ...each, isOverloaded: isTooFull } : each)), units: scene };
}
