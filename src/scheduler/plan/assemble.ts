import type { Millis } from "../../domain/clock.ts";
import type { Directive, Freeze } from "../../domain/directive.ts";
import { type InstanceVerdict, unfitState } from "../../domain/health.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance, InstanceState } from "../../domain/instance.ts";
import { addLoad, type LoadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { MoveReason } from "../../domain/plan.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { instanceTraits } from "../instance-traits.ts";
import type { CpuObservation, CpuWeights } from "../load/cpu-weights.ts";
import { type InstanceReport, judgeMetrics, negligibleFor } from "../load/judge-metrics.ts";
import { isOverloaded, type PresentLoad } from "../load/next-overloaded.ts";
import type { Reference } from "../load/next-reference.ts";
import { type UnitLoad, wholeLoad } from "../load/planning-load.ts";
import { unitNeeds } from "../unit-needs.ts";
import { frozenUntil } from "./freeze-window.ts";
import type { PlanCandidate, PlanSnapshot, PlanUnit } from "./snapshot.ts";

/** What the planner remembers of a class from one plan to the next. */
export interface ClassState {
  readonly reference?: Reference | undefined;
  readonly weights?: CpuWeights | undefined;
  readonly fittedAt?: Millis | undefined;
  readonly aboveSince: Readonly<Record<string, Millis>>;
  readonly overloadedSince: Readonly<Record<string, Millis>>;
}

export interface PlanningUnit {
  readonly unit: PlacementUnit;
  readonly namespace: string;
  readonly trustClass: string;
  readonly known: UnitLoad | undefined;
  readonly directive: Directive;
  readonly clusters: readonly string[];
  /** Where a live move takes it. */
  readonly movingTo: InstanceId | undefined;
  readonly movedAt: Millis | undefined;
  readonly isDeployed: boolean;
}

/** Rows of one class as they were at one moment. */
export interface PlanningFacts {
  readonly class: string;
  /** The oldest version that is safe; absent: none was declared. */
  readonly floor: string | undefined;
  readonly instances: readonly Instance[];
  readonly units: readonly PlanningUnit[];
  readonly instanceLoads: readonly {
    readonly instanceId: InstanceId;
    readonly at: Millis;
    readonly total: LoadVector;
    readonly observation: Omit<CpuObservation, "instance"> | undefined;
  }[];
  readonly freezes: readonly Freeze[];
  readonly state: ClassState;
  /** Newest first. */
  readonly moves: readonly {
    readonly unit: UnitId;
    readonly from: InstanceId;
    readonly to: InstanceId;
    readonly reason: MoveReason;
    readonly at: Millis;
  }[];
  /** What was said last of each instance's health. */
  readonly verdicts: readonly Pick<InstanceVerdict, "instanceId" | "state" | "at">[];
  /** Live moves that were given up, by no person; newest first. */
  readonly failures: readonly { readonly unit: UnitId; readonly to: InstanceId; readonly at: Millis }[];
}

const HOUR_MS = 3_600_000;
/** An instance is new, or comes back, for so long: then it has what plans of a day could give it. */
const FILLING_MS = 24 * HOUR_MS;
/** States in which an instance holds units, and is measured. */
const MEASURED: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

/** What a plan is made from, out of rows. Nothing is decided here but what time has to do with: freezes, freshness, what is new. */
export function assembleSnapshot(facts: PlanningFacts, at: Millis): PlanSnapshot {
  return {
    class: facts.class,
    at,
    candidates: facts.instances.map((instance) => hostOf(instance, facts, at)),
    units: facts.units.map((unit) => planUnitOf(unit, facts, at)),
    metrics: judgeMetrics({
      ...{ now: at, reports: reportsOf(facts), negligible: negligibleOf(facts) },
      ...{ reference: facts.state.reference?.total, rival: facts.state.reference?.rival },
    }),
    recentMoves: facts.moves
      .filter((move) => move.reason !== "FORCED" && at - move.at < HOUR_MS)
      .map(({ unit, from, to }) => ({ unit, from, to })),
    outcomes: outcomesOf(facts),
    freeze: freezeAt(facts.freezes, at),
  };
}

/** How moves ended, newest first. One that was given up changed no owner, and is not among those that were made. */
function outcomesOf({ moves, failures }: Pick<PlanningFacts, "moves" | "failures">): PlanSnapshot["outcomes"] {
  const ends = [
    ...failures.map(({ at }) => ({ at, outcome: "failed" as const })),
    ...moves.map(({ at }) => ({ at, outcome: "done" as const })),
  ];
  return ends.toSorted((a, b) => b.at - a.at).map(({ outcome }) => outcome);
}

/** What each instance that should report last did. */
export function reportsOf({ instances, instanceLoads }: Pick<PlanningFacts, "instances" | "instanceLoads">): readonly InstanceReport[] {
  const known = new Map(instanceLoads.map((load) => [load.instanceId, load]));
  return instances
    .filter(({ state }) => MEASURED.includes(state))
    .map(({ id }) => ({ instance: id, at: known.get(id)?.at, total: known.get(id)?.total ?? ZERO_LOAD }));
}

/** A change of the class's total that nothing follows from, for its instances that are measured. */
export function negligibleOf({ instances }: Pick<PlanningFacts, "instances">): LoadVector {
  return negligibleFor(instances.filter(({ state }) => MEASURED.includes(state)).map(({ capacity }) => capacity));
}

/** What the units of each instance take now; of one that was not measured, what is planned with. */
export function presentLoads({ instances, units, state }: PlanningFacts): readonly PresentLoad[] {
  const sums = new Map<string, LoadVector>();
  for (const { unit, known } of units) {
    const load = known === undefined ? unit.load : wholeLoad(known.recent);
    if (unit.owner !== undefined) sums.set(unit.owner, addLoad(sums.get(unit.owner) ?? ZERO_LOAD, load));
  }
  return instances
    .filter((instance) => MEASURED.includes(instance.state))
    .map(({ id, capacity }) => ({ id, capacity, load: sums.get(id) ?? ZERO_LOAD, since: state.overloadedSince[id] }));
}

/** The freeze that holds longest now; `undefined` when none does. */
export function freezeAt(freezes: readonly Freeze[], at: Millis): PlanSnapshot["freeze"] {
  const holding = freezes.flatMap(({ name, schedule, durationMs, reason, at: from }) => {
    const once = from <= at && from + durationMs > at ? ((from + durationMs) as Millis) : undefined;
    const until = schedule === undefined ? once : frozenUntil({ schedule, durationMs }, at);
    return until === undefined ? [] : [{ reason: `${name}: ${reason}`, until }];
  });
  return holding.sort((a, b) => b.until - a.until || (a.reason < b.reason ? -1 : 1))[0];
}

function hostOf(instance: Instance, { state: known, floor, verdicts }: PlanningFacts, at: Millis): PlanCandidate {
  const { id, name, state, capacity, weight, stateSince } = instance;
  const health = unfitState(
    verdicts.find(({ instanceId }) => instanceId === id),
    at,
  );
  return {
    ...{ id, name, state, traits: instanceTraits(instance, floor), capacity, weight },
    // Of one that nobody can judge a plan may still make use: where nobody can judge any, an instance could not be emptied otherwise.
    ...(health === undefined || health === "unknown" ? {} : { health }),
    isOverloaded: isOverloaded(known.overloadedSince[id], at),
    isFilling: state === "ACTIVE" && at - stateSince < FILLING_MS,
    aboveSince: known.aboveSince[id],
  };
}

function planUnitOf(
  { unit, trustClass, known, directive, clusters, movingTo, movedAt }: PlanningUnit,
  facts: PlanningFacts,
  at: Millis,
): PlanUnit {
  const { instances } = facts;
  const needs = unitNeeds({ class: unit.class, trustClass, directive }, instances);
  const failed = failedOf(unit, facts, at);
  return {
    ...{ id: unit.id, workspaceId: unit.workspaceId, owner: unit.owner, epoch: unit.epoch, load: unit.load, movingTo, movedAt },
    recentLoad: known === undefined ? undefined : wholeLoad(known.recent),
    doNotMoveUntil: directive.hold?.until,
    ...(needs === undefined ? {} : { needs }),
    ...(clusters.length === 0 ? {} : { clusters }),
    ...(failed === undefined ? {} : { failed }),
  };
}

/** A unit that has to leave tries the same target again after so long, in ms: where there is no other one, it is all it has. */
const HURRIED_MS = 10 * 60_000;
/** States of an instance whose units need not leave it. */
const KEEPS: readonly (InstanceState | undefined)[] = ["ACTIVE", "CORDONED"];

/** Where the last move of a unit failed, and how often in a row it failed there: not since it was moved. */
function failedOf({ id, owner }: PlacementUnit, { instances, moves, failures }: PlanningFacts, at: Millis): PlanUnit["failed"] {
  const movedAt = moves.find((move) => move.unit === id)?.at ?? 0;
  const own = failures.filter((failure) => failure.unit === id && failure.at > movedAt);
  const [last] = own;
  if (last === undefined) return undefined;
  const mayStay = KEEPS.includes(instances.find((instance) => instance.id === owner)?.state);
  if (!mayStay && at - last.at >= HURRIED_MS) return undefined;
  return { times: own.filter(({ to }) => to === last.to).length, at: last.at, to: last.to };
}
