import { type Millis, rfc3339 } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { type InstanceState, loadOn } from "../../domain/instance.ts";
import { addLoad, type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { MoveKind } from "../../domain/move.ts";
import type { MoveReason, PlanGoal, PlannedMove, StoredPlan } from "../../domain/plan.ts";
import { complete, type Resumable, visitInTurns } from "../../domain/resumable.ts";
import type { LoadedInstance } from "../candidate.ts";
import { type Ineligible, NO_CONSTRAINTS, type PlacementConstraints, whyNotEligible } from "../eligibility.ts";
import { type Refusal, whyNot } from "../place-unit.ts";
import { refusalText } from "../refusal-text.ts";
import { ceilingOf } from "../utilisation.ts";
import { failedAt } from "./affinity-groups.ts";
import { assembleSnapshotInTurns, type PlanningFacts } from "./assemble.ts";
import { type AskedMoves, openBudgetInTurns, type Urgency } from "./budget.ts";
import { partnersOf } from "./carried-steps.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "./planner-policy.ts";
import { blockedByText } from "./reason-text.ts";
import type { MoveRecord } from "./record.ts";
import type { PlanCandidate, PlanUnit } from "./snapshot.ts";

/** What becomes of one step of a plan, judged by the rows as they are now. */
export type StepVerdict =
  /** It may be made if the target stays within `ceiling`. `isLive`: something of the unit is deployed, so only a live move may move it. */
  | {
      readonly kind: "go";
      readonly from: InstanceId;
      readonly ceiling: LoadVector;
      readonly isLive: boolean;
      readonly source: InstanceState | undefined;
    }
  /** The unit is at its target already: the step was made, even if nobody learnt of it. */
  | { readonly kind: "there" }
  | { readonly kind: "dropped"; readonly why: string };

export interface CarryingOut {
  /** `exchange`: all steps of the exchange that it belongs to, itself included; empty for any other step. */
  judge(move: PlannedMove, exchange?: readonly PlannedMove[]): StepVerdict;
  /** Counts a step that was made: it fills its target and uses the budget. The first step of an exchange uses the budget for all of it. */
  made(move: PlannedMove, exchange?: readonly PlannedMove[]): void;
}

/**
 * Validates a plan's steps again before they are made. The plan was right for its snapshot; since then units may have been moved,
 * pinned or held, instances filled or frozen, and budgets used up by other plans.
 */
export function openCarryingOut(facts: PlanningFacts, at: Millis, policy?: PlannerPolicy): CarryingOut {
  return complete(openCarryingOutInTurns(facts, at, policy));
}

/** The same, with pauses. */
export function* openCarryingOutInTurns(
  facts: PlanningFacts,
  at: Millis,
  policy: PlannerPolicy = DEFAULT_PLANNER_POLICY,
): Resumable<CarryingOut> {
  const snapshot = yield* assembleSnapshotInTurns(facts, at);
  const budget = yield* openBudgetInTurns(snapshot, policy);
  const units = new Map<string, PlanUnit>();
  const deployed = new Set<string>();
  yield* visitInTurns(facts.units, ({ unit, isDeployed }) => {
    if (isDeployed) deployed.add(unit.id);
  });
  const loads = new Map<string, LoadVector>();
  const candidates = new Map<string, PlanCandidate>(snapshot.candidates.map((candidate) => [candidate.id, candidate]));
  const add = (instance: string, load: LoadVector): void =>
    void loads.set(instance, addLoad(loads.get(instance) ?? ZERO_LOAD, loadOn(candidates.get(instance) ?? {}, load)));
  /** By instance and label: the values of those who are there, or were when this began. */
  const valuesOn = new Map<string, Map<string, Set<string>>>();
  const arrive = (instance: string, { needs }: PlanUnit): void => {
    for (const [label, value] of Object.entries(needs?.apartBy ?? {})) {
      const labels = valuesOn.get(instance) ?? new Map<string, Set<string>>();
      valuesOn.set(instance, labels.set(label, (labels.get(label) ?? new Set<string>()).add(value)));
    }
  };
  yield* visitInTurns(snapshot.units, (unit) => {
    units.set(unit.id, unit);
    for (const instance of [unit.owner, unit.movingTo]) {
      if (instance === undefined) continue;
      add(instance, unit.load);
      arrive(instance, unit);
    }
  });
  const { hardLimit } = policy.placement;
  const stateOf = (id: InstanceId): InstanceState | undefined => candidates.get(id)?.state;
  const nameOf = (id: string): string => facts.instances.find((instance) => instance.id === id)?.name ?? id;
  const loadedInstance = (id: InstanceId): LoadedInstance | undefined => {
    const candidate = candidates.get(id);
    if (candidate === undefined) return undefined;
    const { state, entries, traits, capacity } = candidate;
    const offer = { ...(entries === undefined ? {} : { entries }), ...(traits === undefined ? {} : { traits }) };
    const labels = [...(valuesOn.get(id) ?? [])].map(([label, values]) => [label, [...values].sort()] as const);
    const holds = labels.length === 0 ? {} : { holds: Object.fromEntries(labels) };
    return { id, state, ...offer, ...holds, capacity, load: loads.get(id) ?? ZERO_LOAD };
  };
  const begun = new Set<string>();
  const droppedBy = (move: PlannedMove, target: LoadedInstance | undefined): Dropped | undefined => {
    const unit = units.get(move.unit);
    return whyDropped(move, {
      at,
      unit,
      constraints: constraintsOf(unit, at, policy),
      target,
      hardLimit,
      isFrozen: snapshot.freeze !== undefined,
    });
  };
  const isThere = ({ unit, to }: PlannedMove): boolean => units.get(unit)?.owner === to;
  const hasBegun = (move: PlannedMove): boolean => isThere(move) || units.get(move.unit)?.movingTo === move.to || begun.has(move.unit);
  const loadOf = (unit: PlannedMove["unit"]): LoadVector => units.get(unit)?.load ?? ZERO_LOAD;
  const whyNoExchange = (move: PlannedMove, exchange: readonly PlannedMove[]): string | undefined => {
    if (move.reason === "SWAP" && partnersOf(move, exchange).length === 0) return "what should change places with it is not in the plan";
    const ahead = exchange.filter((each) => !hasBegun(each));
    const dropped = whyNoPartner(move, ahead, { loadOf, loadedInstance, droppedBy });
    return dropped && `what should change places with it cannot: ${dropText(dropped, nameOf)}`;
  };
  return {
    judge(move, exchange = []) {
      if (isThere(move)) return { kind: "there" };
      const target = loadedInstance(move.to);
      const dropped = droppedBy(move, target);
      if (dropped !== undefined) return { kind: "dropped", why: `${postponedPrefix(move, exchange, dropped)}${dropText(dropped, nameOf)}` };
      const { from } = move;
      if (from === undefined) return { kind: "dropped", why: "it has no instance: the scheduler places it as soon as one has room" };
      const why = whyNoExchange(move, exchange) ?? whyBlocked(move, exchange.some(hasBegun) ? [] : asked(move, from, exchange));
      if (why !== undefined) return { kind: "dropped", why };
      const ceiling = ceilingOf(target?.capacity ?? ZERO_LOAD, hardLimit);
      return { kind: "go", from, ceiling, isLive: deployed.has(move.unit), source: stateOf(from) };
    },
    made(move, exchange = []) {
      const unit = units.get(move.unit);
      if (unit === undefined || move.from === undefined) return;
      add(move.to, unit.load);
      arrive(move.to, unit);
      if (move.reason !== "FORCED" && !exchange.some(hasBegun)) budget.spend(asked(move, move.from, exchange));
      begun.add(move.unit);
    },
  };

  function asked(move: PlannedMove, from: InstanceId, exchange: readonly PlannedMove[]): readonly AskedMoves[] {
    if (exchange.length === 0) return askedOf(units.get(move.unit), move, from);
    return exchange.flatMap((each) => (each.from === undefined ? [] : askedOf(units.get(each.unit), each, each.from)));
  }

  function postponedPrefix(move: PlannedMove, exchange: readonly PlannedMove[], { rule }: Dropped): string {
    return rule === "REFUSED" && partnersOf(move, exchange).some((partner) => !isThere(partner)) ? POSTPONED : "";
  }

  function whyBlocked({ reason }: PlannedMove, asked: readonly AskedMoves[]): string | undefined {
    if (reason === "FORCED") return undefined;
    const urgency: Urgency = reason === "HOT" ? "hot" : "voluntary";
    const blockedBy = budget.gate(urgency) ?? budget.whyNot(asked, urgency);
    return blockedBy && `blocked by ${blockedByText(blockedBy, nameOf)}: plan again later`;
  }
}

/**
 * Which budget a live move uses. A forced move away from an instance that is being emptied is a drain. Away from one that failed it is an
 * evacuation, because nobody serves its users meanwhile. Every other move could wait.
 */
export function kindOf(goal: PlanGoal, reason: MoveReason, source: InstanceState | undefined): MoveKind {
  if (reason !== "FORCED") return "voluntary";
  if (source === "FAILED") return "evacuation";
  return source === "DRAINING" || goal === "drain" ? "drain" : "voluntary";
}

/** Where units of an exchange are, and would be. */
interface ExchangeFacts {
  readonly loadOf: (unit: PlannedMove["unit"]) => LoadVector;
  readonly loadedInstance: (instance: InstanceId) => LoadedInstance | undefined;
  readonly droppedBy: (move: PlannedMove, target: LoadedInstance | undefined) => Dropped | undefined;
}

/**
 * Why the other half of an exchange could not follow once this half has left; `undefined`: it could. Half an exchange would only fill its
 * target. `ahead`: the steps of the exchange that were not begun.
 */
function whyNoPartner(
  move: PlannedMove,
  ahead: readonly PlannedMove[],
  { loadOf, loadedInstance, droppedBy }: ExchangeFacts,
): Dropped | undefined {
  const sum = (moves: readonly PlannedMove[], on: LoadedInstance | undefined) =>
    moves.reduce((total, { unit }) => addLoad(total, loadOn(on ?? {}, loadOf(unit))), ZERO_LOAD);
  for (const partner of partnersOf(move, ahead)) {
    const target = loadedInstance(partner.to);
    const leaves = sum(
      ahead.filter(({ from }) => from === move.from),
      target,
    );
    const others = sum(
      ahead.filter(({ unit, from }) => from === partner.from && unit !== partner.unit),
      target,
    );
    const load = loadVector((dimension) => (target?.load[dimension] ?? 0) - leaves[dimension] + others[dimension]);
    const dropped = droppedBy(partner, target && { ...target, load });
    if (dropped !== undefined) return dropped;
  }
  return undefined;
}

/** How the reason begins for a step that waits until the other half of its exchange has left. */
const POSTPONED = "it follows when what changes places with it has left: ";

function askedOf(unit: PlanUnit | undefined, { to }: PlannedMove, from: InstanceId): readonly AskedMoves[] {
  return [{ units: unit === undefined ? [] : [unit], from, to }];
}

function constraintsOf(unit: PlanUnit | undefined, at: Millis, policy: PlannerPolicy): PlacementConstraints {
  if (unit === undefined) return NO_CONSTRAINTS;
  return { ...NO_CONSTRAINTS, needs: unit.needs === undefined ? [] : [unit.needs], failedAt: failedAt(unit, { at, policy }) };
}

/** The journal's entry for a step that is made: the record of the plan's choice, who had it carried out, and under which plan. */
export function moveDecision(plan: StoredPlan, move: PlannedMove, said: { readonly at: Millis; readonly actor: string }): Decision {
  const records = plan.records as readonly MoveRecord[];
  const record = records.find(({ units, answer }) => units.includes(move.unit) && answer.chosen === move.to) ?? null;
  const { from, to, epoch, reason } = move;
  return {
    ...{ at: said.at, subject: move.unit, kind: "placement", verdict: "MOVED", rule: reason },
    details: { ...(from === undefined ? {} : { from }), to, epoch, plan: plan.id, actor: said.actor, record },
  };
}

function dropText(dropped: Dropped, nameOf: (id: string) => string): string {
  switch (dropped.rule) {
    case "UNIT_GONE":
      return "it is gone";
    case "FROZEN":
      return "a freeze holds";
    case "TARGET_GONE":
      return "the instance it should go to is gone";
    case "MOVED_SINCE":
      return `it was moved since, and has epoch ${dropped.epoch}`;
    case "OWNER_CHANGED":
      return `it lives ${dropped.owner === undefined ? "nowhere" : `on ${nameOf(dropped.owner)}`} by now`;
    case "MOVING":
      return `it is being moved to ${nameOf(dropped.to)}`;
    case "DO_NOT_MOVE":
      return `it is held until ${rfc3339(dropped.until)}`;
    case "REFUSED":
      return `${nameOf(dropped.refusal.instance)}: ${refusalText(dropped.refusal, nameOf)}`;
  }
}

/** The rows a planned move touches, as they are when it would start. */
export interface CurrentRows {
  readonly at: Millis;
  readonly unit: PlanUnit | undefined;
  readonly constraints: PlacementConstraints;
  /** The instance it should go to, with what it carries now, moves towards it included. */
  readonly target: LoadedInstance | undefined;
  /** No instance is filled beyond this, ppm. */
  readonly hardLimit: number;
  readonly isFrozen: boolean;
}

/** Why a planned move is dropped. It is not put off: the next plan sees what has changed. */
export type Dropped =
  | { readonly rule: "UNIT_GONE" | "FROZEN" | "TARGET_GONE" }
  | { readonly rule: "MOVED_SINCE"; readonly epoch: number }
  | { readonly rule: "OWNER_CHANGED"; readonly owner: InstanceId | undefined }
  | { readonly rule: "MOVING"; readonly to: InstanceId }
  | { readonly rule: "DO_NOT_MOVE"; readonly until: Millis }
  | { readonly rule: "REFUSED"; readonly refusal: Refusal };

/**
 * Why a move may not start; `undefined`: it may. The plan was right for its snapshot. Since then somebody may have moved the unit,
 * pinned it, or filled its target. So each move is checked against its own rows, and one that is dropped does not drop the others. A
 * forced move may start in a freeze and in spite of do-not-move.
 */
export function whyDropped(move: PlannedMove, rows: CurrentRows): Dropped | undefined {
  const { unit, target } = rows;
  if (unit === undefined) return { rule: "UNIT_GONE" };
  if (unit.epoch !== move.epoch) return { rule: "MOVED_SINCE", epoch: unit.epoch };
  if (unit.owner !== move.from) return { rule: "OWNER_CHANGED", owner: unit.owner };
  if (unit.movingTo !== undefined) return { rule: "MOVING", to: unit.movingTo };
  if (move.reason !== "FORCED") {
    if (rows.isFrozen) return { rule: "FROZEN" };
    const until = unit.doNotMoveUntil;
    if (until !== undefined && until > rows.at) return { rule: "DO_NOT_MOVE", until };
  }
  if (target === undefined) return { rule: "TARGET_GONE" };
  const refusal: Ineligible | Refusal | undefined =
    whyNotEligible(rows.constraints, target) ?? whyNot(target, { load: unit.load, constraints: rows.constraints }, rows.hardLimit);
  return refusal === undefined ? undefined : { rule: "REFUSED", refusal };
}
