import type { Millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { CarriedStep, StoredPlan } from "../../domain/plan.ts";
import type { MeanLoads, ReliefPromise } from "../../domain/rebalancing.ts";
import type { PlanDocument } from "../plan/report.ts";
import { WHOLE } from "../policy.ts";
import { MEAN_MS } from "./mean-loads.ts";

/** How a promise came out. */
export type PromiseOutcome =
  /** It cannot be said yet. */
  | { readonly kind: "open" }
  /** Nothing of it was moved in the end, or nothing could be measured for hours. */
  | { readonly kind: "void"; readonly rule: "NOTHING_MOVED" | "NOT_MEASURED" }
  | {
      readonly kind: "measured";
      /** Of what was really moved. */
      readonly expected: number;
      readonly real: number;
      readonly after: number;
      readonly moves: number;
      readonly isKept: boolean;
    };

/** Rows that show how a promise came out. */
export interface PromiseFacts {
  readonly instances: readonly { readonly id: InstanceId }[];
  readonly units: readonly {
    readonly unit: { readonly id: UnitId; readonly owner?: InstanceId | undefined; readonly load: LoadVector };
    readonly movingTo: InstanceId | undefined;
  }[];
  /** Since hours before the promise was made, or longer. */
  readonly moves: readonly { readonly unit: UnitId; readonly from: InstanceId; readonly to: InstanceId; readonly at: Millis }[];
}

const HOUR_MS = 3_600_000;
/** How long after its last move a promise is measured: four times what measured loads are means of, so that little is left of what was before. */
const SETTLE_MS = 2 * HOUR_MS;
/** Afterwards too much else has changed. */
const GOOD_FOR_MS = 8 * HOUR_MS;
/** The part of what was expected that has to come, ppm. Loads vary, and a plan is worth its moves if it helps half as much as was thought. */
const KEPT = 500_000;

/**
 * What these steps promise, one promise for each instance that they leave. Steps that have to be made promise nothing, and neither does a class
 * of which nothing is measured.
 */
export function promisesOf(
  plan: Pick<StoredPlan, "id" | "report">,
  steps: readonly CarriedStep[],
  facts: PromiseFacts,
  { means, at }: { readonly means: MeanLoads; readonly at: Millis },
): readonly ReliefPromise[] {
  const { dimension } = plan.report as unknown as PlanDocument;
  const loads = new Map(facts.units.map(({ unit }) => [unit.id, unit.load[dimension]]));
  const total = [...loads.values()].reduce((sum, load) => sum + load, 0);
  const made = steps.filter(({ outcome, reason }) => outcome !== "dropped" && reason !== "FORCED");
  if (total === 0) return [];
  const shareOf = (unit: UnitId): number => Math.round(((loads.get(unit) ?? 0) * WHOLE) / total);
  const left = [...new Set(made.flatMap(({ from }) => from ?? []))];
  return left.flatMap((instance) => {
    const before = measuredShare({ instance, dimension }, facts, means);
    if (before === undefined) return [];
    const leaving = made.filter(({ from }) => from === instance).map(({ unit }) => ({ unit, share: shareOf(unit) }));
    const arriving = made.filter(({ to }) => to === instance).map(({ unit }) => ({ unit, share: -shareOf(unit) }));
    return [{ plan: plan.id, instance, dimension, since: at, at, units: [...leaving, ...arriving], before }];
  });
}

/** Two promises about one instance as one, from what it had before the first one. */
export function together(first: ReliefPromise, second: ReliefPromise): ReliefPromise {
  const again = new Set(second.units.map(({ unit }) => unit));
  return {
    ...second,
    since: first.since,
    before: first.before,
    units: [...first.units.filter(({ unit }) => !again.has(unit)), ...second.units],
  };
}

/** Compares what was promised with what is measured now. */
export function judgePromise(
  promise: ReliefPromise,
  facts: PromiseFacts,
  { means, at }: { readonly means: MeanLoads; readonly at: Millis },
): PromiseOutcome {
  const { instance, before, units } = promise;
  const shares = new Map(units.map(({ unit, share }) => [unit, share]));
  const made = facts.moves.filter(
    (move) => shares.has(move.unit) && move.at >= promise.since && (move.from === instance || move.to === instance),
  );
  const isMoving = facts.units.some(({ unit, movingTo }) => movingTo !== undefined && shares.has(unit.id));
  const last = made.reduce((latest, move) => Math.max(latest, move.at), promise.at as number);
  const isLate = at - promise.at >= GOOD_FOR_MS;
  if (isMoving || at - last < SETTLE_MS) return isLate ? { kind: "void", rule: "NOT_MEASURED" } : { kind: "open" };
  const moved = [...new Set(made.map(({ unit }) => unit))];
  const expected = moved.reduce((sum, unit) => sum + (shares.get(unit) ?? 0), 0);
  if (expected <= 0) return { kind: "void", rule: "NOTHING_MOVED" };
  const after = measuredShare(promise, facts, means, last + SETTLE_MS / 2);
  if (after === undefined) return isLate ? { kind: "void", rule: "NOT_MEASURED" } : { kind: "open" };
  const real = before - after + broughtBy(others(facts.moves, shares, instance), promise, facts);
  return { kind: "measured", expected, real, after, moves: moved.length, isKept: isKept({ expected, real }) };
}

type Moves = PromiseFacts["moves"];

function others(moves: Moves, promised: ReadonlyMap<UnitId, number>, instance: InstanceId): Moves {
  return moves.filter(({ unit, from, to }) => !promised.has(unit) && (from === instance || to === instance));
}

/**
 * The part of the class's load that other moves brought to the instance since the promise was made, less what they took, ppm: what arrives from an instance that
 * failed is no reason to think that moves do not help. Of moves shortly before, what the mean at that time did not show yet.
 */
function broughtBy(moves: Moves, { instance, dimension, since }: ReliefPromise, { units }: PromiseFacts): number {
  const total = units.reduce((sum, { unit }) => sum + unit.load[dimension], 0);
  const loads = new Map(units.map(({ unit }) => [unit.id, unit.load[dimension]]));
  const brought = moves.reduce((sum, { unit, to, at }) => {
    const unseen = at >= since ? 1 : Math.exp((at - since) / MEAN_MS);
    return sum + (to === instance ? 1 : -1) * unseen * (loads.get(unit) ?? 0);
  }, 0);
  return total === 0 ? 0 : Math.round((brought * WHOLE) / total);
}

/** Whether enough of what was expected came. */
export function isKept({ expected, real }: { readonly expected: number; readonly real: number }): boolean {
  return real * WHOLE >= expected * KEPT;
}

/** What part of the class's measured load an instance has, ppm; `undefined`: it, or the class, was not measured, or not since `notBefore`. */
function measuredShare(
  { instance, dimension }: Pick<ReliefPromise, "instance" | "dimension">,
  { instances }: PromiseFacts,
  means: MeanLoads,
  notBefore = 0,
): number | undefined {
  const own = means[instance];
  if (own === undefined || own.at < notBefore) return undefined;
  const total = instances.reduce((sum, { id }) => sum + (means[id]?.load[dimension] ?? 0), 0);
  return total === 0 ? undefined : Math.round((own.load[dimension] * WHOLE) / total);
}
