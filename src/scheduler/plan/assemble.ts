import type { DemandHistory, FullInstances, PoolSizes, Sizing } from "../../domain/capacity.ts";
import type { Millis } from "../../domain/clock.ts";
import type { Directive, Freeze } from "../../domain/directive.ts";
import type { PoolSpec, RebalancingSpec } from "../../domain/fleet.ts";
import type { WorkspaceGroups } from "../../domain/groups.ts";
import { type InstanceVerdict, unfitState } from "../../domain/health.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance, InstanceState } from "../../domain/instance.ts";
import { addLoad, type LoadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { MoveReason } from "../../domain/plan.ts";
import type { ResourceLimits } from "../../domain/raised-resources.ts";
import { complete, filterInTurns, mapInTurns, type Resumable, visitInTurns } from "../../domain/resumable.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { usualLoads } from "../capacity/demand.ts";
import { instanceTraits } from "../instance-traits.ts";
import type { CpuObservation, CpuWeights } from "../load/cpu-weights.ts";
import { type InstanceReport, judgeMetrics, negligibleFor } from "../load/judge-metrics.ts";
import { isOverloaded, type PresentLoad } from "../load/next-overloaded.ts";
import type { Reference } from "../load/next-reference.ts";
import { type UnitLoad, wholeLoad } from "../load/planning-load.ts";
import type { PromiseState } from "../rebalancing/settle-promises.ts";
import { unitNeeds } from "../unit-needs.ts";
import { frozenUntil } from "./freeze-window.ts";
import { companionsInTurns, movingTogetherInTurns } from "./moving-together.ts";
import type { PlanCandidate, PlanSnapshot, PlanUnit } from "./snapshot.ts";

/** What the planner remembers of a class from one plan to the next. */
export interface ClassState extends PromiseState {
  readonly reference?: Reference | undefined;
  readonly weights?: CpuWeights | undefined;
  readonly fittedAt?: Millis | undefined;
  readonly aboveSince: Readonly<Record<string, Millis>>;
  readonly overloadedSince: Readonly<Record<string, Millis>>;
  readonly demand?: DemandHistory | undefined;
  readonly doubted?: DemandHistory | undefined;
  readonly sizes?: PoolSizes | undefined;
  readonly sizing?: Sizing | undefined;
  readonly full?: FullInstances | undefined;
  readonly limits?: ResourceLimits | undefined;
}

export interface PlanningUnit {
  readonly unit: PlacementUnit;
  readonly namespace: string;
  readonly trustClass: string;
  /** Of its workspace; absent: it is in none. */
  readonly groups?: WorkspaceGroups;
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
  /** How it is evened out; absent: that is not declared. */
  readonly rebalancing?: RebalancingSpec | undefined;
  /** Its pools whose size is decided by load, in the order of the declaration; absent: none. */
  readonly scaled?: readonly PoolSpec[];
  /** Its pools that let resources of their instances be raised; absent: none. */
  readonly raisable?: readonly PoolSpec[];
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
  /** The last health verdict on each instance. */
  readonly verdicts: readonly Pick<InstanceVerdict, "instanceId" | "state" | "at">[];
  /** Live moves that failed, not those that a person gave up; newest first. */
  readonly failures: readonly { readonly unit: UnitId; readonly to: InstanceId; readonly at: Millis }[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long an instance counts as new, or as back, in ms: within a day plans can give it its share. */
const FILLING_MS = DAY_MS;
/** States in which an instance holds units, and is measured. */
const MEASURED: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

/** Makes the snapshot of a plan from rows. It decides only what depends on the time: freezes, freshness, which instances are new. */
export function assembleSnapshot(facts: PlanningFacts, at: Millis): PlanSnapshot {
  return complete(assembleSnapshotInTurns(facts, at));
}

/** The same, with pauses. */
export function* assembleSnapshotInTurns(facts: PlanningFacts, at: Millis): Resumable<PlanSnapshot> {
  const together = yield* movingTogetherInTurns(facts);
  const companions = yield* companionsInTurns(facts);
  const voluntary = facts.moves.filter(({ reason }) => reason !== "FORCED");
  const failures = Map.groupBy(facts.failures, ({ unit }) => unit);
  return {
    class: facts.class,
    at,
    candidates: facts.instances.map((instance) => planCandidateOf(instance, facts, at)),
    units: yield* planUnitsOf({ facts, failures, together, companions, at, movedAt: lastMoves(facts) }),
    metrics: judgeMetrics({
      ...{ now: at, reports: reportsOf(facts), negligible: negligibleOf(facts) },
      ...{ reference: facts.state.reference?.total, rival: facts.state.reference?.rival, usual: usualLoads(facts.state.demand, at) },
    }),
    recentMoves: voluntary.filter((move) => at - move.at < HOUR_MS).map(({ unit, from, to }) => ({ unit, from, to })),
    // Where no limit of a day is declared, nothing depends on it.
    ...(facts.rebalancing === undefined ? {} : { movesOfDay: voluntary.filter((move) => at - move.at < DAY_MS).length }),
    outcomes: outcomesOf(facts),
    freeze: freezeAt(facts.freezes, at),
  };
}

/** How moves ended, newest first. A move that failed changed no owner, so it is not among `moves`. */
function outcomesOf({ moves, failures }: Pick<PlanningFacts, "moves" | "failures">): PlanSnapshot["outcomes"] {
  const ends = [
    ...failures.map(({ at }) => ({ at, outcome: "failed" as const })),
    ...moves.map(({ at }) => ({ at, outcome: "done" as const })),
  ];
  return ends.toSorted((a, b) => b.at - a.at).map(({ outcome }) => outcome);
}

/** The last report of each instance that should report. */
export function reportsOf({ instances, instanceLoads }: Pick<PlanningFacts, "instances" | "instanceLoads">): readonly InstanceReport[] {
  const known = new Map(instanceLoads.map((load) => [load.instanceId, load]));
  return instances
    .filter(({ state }) => MEASURED.includes(state))
    .map(({ id }) => ({ instance: id, at: known.get(id)?.at, total: known.get(id)?.total ?? ZERO_LOAD }));
}

/** How far the class's total may change without any consequence, by its instances that are measured. */
export function negligibleOf({ instances }: Pick<PlanningFacts, "instances">): LoadVector {
  return negligibleFor(instances.filter(({ state }) => MEASURED.includes(state)).map(({ capacity }) => capacity));
}

/** The present load of each instance's units; for a unit that was not measured, its planning load. */
export function presentLoads(facts: PlanningFacts): readonly PresentLoad[] {
  return complete(presentLoadsInTurns(facts));
}

/** The same, with pauses. */
export function* presentLoadsInTurns({ instances, units, state }: PlanningFacts): Resumable<readonly PresentLoad[]> {
  const sums = new Map<string, LoadVector>();
  yield* visitInTurns(units, ({ unit, known }) => {
    const load = known === undefined ? unit.load : wholeLoad(known.recent);
    if (unit.owner !== undefined) sums.set(unit.owner, addLoad(sums.get(unit.owner) ?? ZERO_LOAD, load));
  });
  return instances
    .filter((instance) => MEASURED.includes(instance.state))
    .map(({ id, capacity }) => ({ id, capacity, load: sums.get(id) ?? ZERO_LOAD, since: state.overloadedSince[id] }));
}

/** Of the freezes that hold now, the one that ends last; `undefined` when none holds. */
export function freezeAt(freezes: readonly Freeze[], at: Millis): PlanSnapshot["freeze"] {
  const holding = freezes.flatMap(({ name, schedule, durationMs, reason, at: from }) => {
    const once = from <= at && from + durationMs > at ? ((from + durationMs) as Millis) : undefined;
    const until = schedule === undefined ? once : frozenUntil({ schedule, durationMs }, at);
    return until === undefined ? [] : [{ reason: `${name}: ${reason}`, until }];
  });
  return holding.sort((a, b) => b.until - a.until || (a.reason < b.reason ? -1 : 1))[0];
}

function planCandidateOf(instance: Instance, { state: known, floor, verdicts }: PlanningFacts, at: Millis): PlanCandidate {
  const { id, name, state, entries, capacity, weight, stateSince } = instance;
  const health = unfitState(
    verdicts.find(({ instanceId }) => instanceId === id),
    at,
  );
  return {
    ...{ id, name, state, traits: instanceTraits(instance, floor), capacity, weight },
    ...(entries === "shared" ? {} : { entries }),
    // A plan may still use an instance whose health is unknown: where all are unknown, no instance could be emptied otherwise.
    ...(health === undefined || health === "unknown" ? {} : { health }),
    isOverloaded: isOverloaded(known.overloadedSince[id], at),
    isFilling: state === "ACTIVE" && at - stateSince < FILLING_MS,
    aboveSince: known.aboveSince[id],
  };
}

interface Moment {
  readonly facts: PlanningFacts;
  /** By unit. */
  readonly failures: ReadonlyMap<UnitId, PlanningFacts["failures"]>;
  /** The group that a unit is moved with as one, by unit. */
  readonly together: ReadonlyMap<UnitId, string>;
  /** Where others of a unit's group live, by unit. */
  readonly companions: ReadonlyMap<UnitId, InstanceId>;
  /** When each unit was moved last, of those that were lately. */
  readonly movedAt: ReadonlyMap<UnitId, Millis>;
  readonly at: Millis;
}

/** The moves come newest first. */
function lastMoves({ moves }: PlanningFacts): ReadonlyMap<UnitId, Millis> {
  return new Map(moves.toReversed().map(({ unit, at }) => [unit, at]));
}

function* planUnitsOf(moment: Moment): Resumable<readonly PlanUnit[]> {
  const passing = yield* passingUnits(moment.facts);
  return yield* mapInTurns(moment.facts.units, (unit) => {
    const planned = planUnitOf(unit, moment);
    return passing.has(planned.id) ? { ...planned, isPassing: true as const } : planned;
  });
}

/** Units of which another part of their workspace takes applications over where they are, or is to, and those parts; on instances that take units. */
function* passingUnits({ units, instances }: PlanningFacts): Resumable<ReadonlySet<UnitId>> {
  const isConcerned = ({ joins, tookFrom }: PlacementUnit): boolean => joins !== undefined || tookFrom !== undefined;
  const concerned = yield* filterInTurns(units, ({ unit }) => isConcerned(unit));
  if (concerned.length === 0) return new Set();
  const owners = new Map<UnitId, InstanceId | undefined>();
  yield* visitInTurns(units, ({ unit }) => owners.set(unit.id, unit.owner));
  const active = new Set(instances.flatMap(({ id, state }) => (state === "ACTIVE" ? [id] : [])));
  const isHere = (owner: InstanceId | undefined, other: UnitId): boolean =>
    owner !== undefined && active.has(owner) && owners.get(other) === owner;
  return new Set(
    concerned.flatMap(({ unit: { id, owner, joins, tookFrom } }) =>
      [joins, tookFrom].flatMap((other) => (other !== undefined && isHere(owner, other) ? [id, other] : [])),
    ),
  );
}

function planUnitOf(
  { unit, trustClass, groups, known, directive, clusters, movingTo, movedAt }: PlanningUnit,
  { facts, failures, together: groupOf, companions: companionsOf, movedAt: lastMoved, at }: Moment,
): PlanUnit {
  const own = unitNeeds({ class: unit.class, trustClass, directive, groups }, facts.instances);
  const together = groupOf.get(unit.id);
  const needs = together === undefined ? own : { ...own, together };
  const companions = companionsOf.get(unit.id);
  const failed = failedOf(unit, { facts, failures, movedAt: lastMoved, at });
  return {
    ...{ id: unit.id, workspaceId: unit.workspaceId, owner: unit.owner, epoch: unit.epoch, load: unit.load, movingTo, movedAt },
    recentLoad: known === undefined ? undefined : wholeLoad(known.recent),
    doNotMoveUntil: directive.hold?.until,
    ...(needs === undefined ? {} : { needs }),
    ...(companions === undefined ? {} : { companions }),
    ...(clusters.length === 0 ? {} : { clusters }),
    ...(failed === undefined ? {} : { failed }),
  };
}

/** How soon a unit that has to leave tries a target again to which a move failed, in ms: there may be no other one. */
const RETRY_TARGET_MS = 10 * 60_000;
/** States of an instance whose units need not leave it. */
const KEEPS: readonly (InstanceState | undefined)[] = ["ACTIVE", "CORDONED"];

/** Where the last failed move of a unit was to go, and how many moves to there failed; none that is older than its last move that was made. */
function failedOf(
  { id, owner }: PlacementUnit,
  { facts: { instances }, failures: known, movedAt: lastMoved, at }: Omit<Moment, "together" | "companions">,
): PlanUnit["failed"] {
  const failures = known.get(id);
  if (failures === undefined) return undefined;
  const movedAt = lastMoved.get(id) ?? 0;
  const own = failures.filter((failure) => failure.at > movedAt);
  const [last] = own;
  if (last === undefined) return undefined;
  const mayStay = KEEPS.includes(instances.find((instance) => instance.id === owner)?.state);
  if (!mayStay && at - last.at >= RETRY_TARGET_MS) return undefined;
  return { times: own.filter(({ to }) => to === last.to).length, at: last.at, to: last.to };
}
