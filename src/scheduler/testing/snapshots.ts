import fc from "fast-check";
import { type Millis, millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { InstanceState } from "../../domain/instance.ts";
import { type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { InstanceTraits } from "../../domain/needs.ts";
import type { PlanCandidate, PlanSnapshot, PlanUnit } from "../plan/snapshot.ts";

export const NOON: Millis = millis(1_700_000_000_000);
export const HOUR_MS = 3_600_000;

export const apps = (count: number): LoadVector => ({ ...ZERO_LOAD, applications: count });
/** Room for 1,000 in each dimension. */
export const ROOMY: LoadVector = loadVector(() => 1_000);

export const TRAITS: InstanceTraits = {
  class: "eu/shared/public",
  region: "eu",
  engineCluster: "eu-1",
  trust: "public",
  channel: "stable",
  isBelowFloor: false,
};

export function aCandidate(name: string, candidate: Partial<PlanCandidate> = {}): PlanCandidate {
  return {
    id: name as InstanceId,
    name,
    state: "ACTIVE",
    weight: 1,
    capacity: ROOMY,
    traits: TRAITS,
    isOverloaded: false,
    isFilling: false,
    ...candidate,
  };
}

/** A unit of a workspace of its own on an instance. */
export function aUnit(name: string, owner: string | undefined, count: number, unit: Partial<PlanUnit> = {}): PlanUnit {
  return {
    id: name as UnitId,
    workspaceId: `w-${name}` as WorkspaceId,
    owner: owner as InstanceId | undefined,
    epoch: 1,
    load: apps(count),
    ...unit,
  };
}

/** Units of equal size on an instance, named by it. */
export function units(owner: string, count: number, each: number, unit: Partial<PlanUnit> = {}): readonly PlanUnit[] {
  return Array.from({ length: count }, (_, index) => aUnit(`${owner}-${String(index).padStart(3, "0")}`, owner, each, unit));
}

export function aSnapshot(candidates: readonly PlanCandidate[], held: readonly PlanUnit[], more: Partial<PlanSnapshot> = {}): PlanSnapshot {
  return {
    class: "eu/shared/public",
    at: NOON,
    candidates,
    units: held,
    metrics: { kind: "trusted" },
    recentMoves: [],
    outcomes: [],
    ...more,
  };
}

/** An instance that has been above the bound for long enough to shed. */
export const LONG_ABOVE: Partial<PlanCandidate> = { aboveSince: millis(NOON - 13 * HOUR_MS) };

const state = fc.constantFrom<InstanceState[]>("ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE", "CORDONED", "DRAINING", "WARMING");
const candidateShape = fc.record({
  state,
  weight: fc.constantFrom(1, 2, 4),
  isOverloaded: fc.constantFrom(false, false, false, true),
  isFilling: fc.constantFrom(false, false, true),
  isLongAbove: fc.boolean(),
});
const unitShape = fc.record({
  owner: fc.nat({ max: 12 }),
  load: fc.record({ applications: fc.nat({ max: 260 }), milliCpu: fc.nat({ max: 260 }) }),
  workspace: fc.nat({ max: 60 }),
  kind: fc.constantFrom(
    "plain",
    "plain",
    "plain",
    "plain",
    "cooling",
    "fixed",
    "pinned",
    "together",
    "apart",
    "grouped",
    "grouped",
    "moving",
    "arriving",
  ),
  group: fc.nat({ max: 3 }),
});

/** Fleets of up to eight instances with all kinds of units: owned, waiting, on instances that are gone, constrained. */
export const anySnapshot: fc.Arbitrary<PlanSnapshot> = fc
  .record({ candidates: fc.array(candidateShape, { maxLength: 8 }), units: fc.array(unitShape, { maxLength: 60 }) })
  .map((shape) => {
    const candidates = shape.candidates.map(({ isLongAbove, weight, ...candidate }, index) =>
      aCandidate(`s${index}`, { ...candidate, weight, capacity: loadVector(() => 1_000 * weight), ...(isLongAbove ? LONG_ABOVE : {}) }),
    );
    const held = shape.units.map(({ owner, load, workspace, kind, group }, index) =>
      aUnit(`u${String(index).padStart(3, "0")}`, owner === 12 ? undefined : `s${owner}`, 0, {
        load: { ...ZERO_LOAD, ...load },
        workspaceId: `w${workspace}` as WorkspaceId,
        ...kindOf(kind, group),
      }),
    );
    return aSnapshot(candidates, held);
  });

function kindOf(kind: string, group: number): Partial<PlanUnit> {
  switch (kind) {
    case "cooling":
      return { movedAt: millis(NOON - HOUR_MS) };
    case "fixed":
      return { doNotMoveUntil: millis(NOON + HOUR_MS) };
    case "pinned":
      return { needs: { pinnedTo: [`s${group}` as InstanceId] } };
    case "together":
      return { needs: { together: `t${group}` } };
    case "apart":
      return { needs: { apart: `a${group}` } };
    case "grouped":
      return { needs: { apartBy: { "class.argosy.dev/customer": `c${group}` } } };
    case "arriving":
      return { needs: { apartBy: { "class.argosy.dev/customer": `c${group}` } }, movingTo: `s${group}` as InstanceId };
    case "moving":
      return { movingTo: `s${group}` as InstanceId };
    default:
      return {};
  }
}
