import { millis } from "../../src/domain/clock.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../src/domain/ids.ts";
import { LOAD_DIMENSIONS, type LoadDimension, type LoadVector, loadVector } from "../../src/domain/load.ts";
import type { Rng } from "../../src/domain/rng.ts";
import { createSeededRng } from "../../src/runtime/rng.ts";
import type { PlanCandidate, PlanSnapshot, PlanUnit } from "../../src/scheduler/plan/snapshot.ts";

/** Some moment: only differences matter. */
export const START = millis(1_700_000_000_000);

export type Tail = "lognormal" | "zipf";

export interface FleetShape {
  readonly tail: Tail;
  readonly workspaces: number;
  readonly instances: number;
  /** Mean utilisation in each dimension. A dimension that is not named carries no load. */
  readonly utilisation: Partial<Record<LoadDimension, number>>;
  readonly seed: number;
}

/** How much of the mean load of a smallest instance one unit may be, before its workspace is split. */
const LARGEST_PART = 0.25;

export interface Fleet {
  readonly shape: FleetShape;
  readonly candidates: readonly PlanCandidate[];
  readonly units: readonly PlanUnit[];
}

/** Sizes of workspaces: lognormal with σ 1.5, or Zipf with exponent 1. Only their proportions matter. */
function sizesOf({ tail, workspaces }: FleetShape, rng: Rng): readonly number[] {
  if (tail === "zipf") return Array.from({ length: workspaces }, (_, rank) => 1 / (rank + 1));
  return Array.from({ length: workspaces }, () => Math.exp(1.5 * gaussian(rng)));
}

/** A normally distributed number, mean 0 and deviation 1 (Box and Muller). */
export function gaussian(rng: Rng): number {
  return Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next());
}

/** A synthetic fleet: capacities 1 : 2 : 4 for 50 : 35 : 15 % of the instances, no unit placed yet. */
export function makeFleet(shape: FleetShape): Fleet {
  const rng = createSeededRng(`fleet ${shape.tail} ${shape.workspaces} ${shape.instances} ${shape.seed}`);
  const weights = Array.from({ length: shape.instances }, () => weightOf(rng.next()));
  const sizes = sizesOf(shape, rng.fork("sizes"));
  const weightSum = weights.reduce((sum, weight) => sum + weight, 0);
  const unit = 1_000_000;
  const total = sizes.reduce((sum, size) => sum + size, 0);
  // One dimension is the size itself. The others follow it with their own spread.
  const dimensions = LOAD_DIMENSIONS.filter((dimension) => shape.utilisation[dimension] !== undefined);
  const noise = rng.fork("noise");
  const raw = sizes.map((size) => dimensions.map((_, d) => (d === 0 ? size : size * Math.exp(0.5 * gaussian(noise)))));
  const sums = dimensions.map((_, d) => raw.reduce((sum, row) => sum + (row[d] as number), 0));
  const smallestTarget = (dimension: LoadDimension): number => unit * (shape.utilisation[dimension] ?? 0);
  const units = raw.flatMap((row, index): PlanUnit[] => {
    const loads = row.map((value, d) => (value / (sums[d] ?? total)) * weightSum * smallestTarget(dimensions[d] as LoadDimension));
    const parts = Math.max(1, ...loads.map((load, d) => Math.ceil(load / (LARGEST_PART * smallestTarget(dimensions[d] as LoadDimension)))));
    const load = loadVector((dimension) => {
      const d = dimensions.indexOf(dimension);
      return d < 0 ? 0 : Math.max(1, Math.round((loads[d] as number) / parts));
    });
    const name = `ws-${String(index).padStart(6, "0")}`;
    return Array.from({ length: parts }, (_, part) => aUnit(`${name}/${part}`, name, load));
  });
  const capacity = loadVector((dimension) => (shape.utilisation[dimension] === undefined ? 0 : unit));
  const candidates = weights.map((weight, index) => aCandidate(`argo-${String(index).padStart(4, "0")}-${shape.seed}`, weight, capacity));
  return { shape, candidates, units };
}

function aUnit(id: string, workspace: string, load: LoadVector): PlanUnit {
  return { id: id as UnitId, workspaceId: workspace as WorkspaceId, epoch: 0, load };
}

export function aCandidate(id: string, weight: number, capacity: LoadVector): PlanCandidate {
  return {
    id: id as InstanceId,
    name: id,
    state: "ACTIVE",
    weight,
    capacity: loadVector((dimension) => capacity[dimension] * weight),
    isOverloaded: false,
    isFilling: false,
  };
}

export function snapshotOf(fleet: Pick<Fleet, "candidates" | "units">, more: Partial<PlanSnapshot> = {}): PlanSnapshot {
  return {
    class: "bench",
    at: START,
    candidates: fleet.candidates,
    units: fleet.units,
    metrics: { kind: "trusted" },
    recentMoves: [],
    outcomes: [],
    ...more,
  };
}

/** The units after the moves, in the same order. */
export function afterMoves(
  units: readonly PlanUnit[],
  moves: readonly { readonly unit: string; readonly to: InstanceId }[],
): readonly PlanUnit[] {
  const to = new Map(moves.map((move) => [move.unit as string, move.to]));
  return units.map((unit) => {
    const owner = to.get(unit.id);
    return owner === undefined ? unit : { ...unit, owner, epoch: unit.epoch + 1 };
  });
}

function weightOf(draw: number): number {
  if (draw < 0.5) return 1;
  return draw < 0.85 ? 2 : 4;
}
