import type { Millis } from "../../domain/clock.ts";
import type { InstanceId, WorkspaceId } from "../../domain/ids.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import { complete, type Resumable, visitInTurns } from "../../domain/resumable.ts";
import type { MetricsVerdict } from "../load/judge-metrics.ts";
import { WHOLE } from "../policy.ts";
import type { PlannerPolicy } from "./planner-policy.ts";
import type { PlanSnapshot, PlanUnit } from "./snapshot.ts";

/** What a plan was blocked by, with the numbers that show it. For counts: `used` + `asked` would be more than `limit`. */
export type BlockedBy =
  | { readonly rule: "METRICS"; readonly verdict: MetricsVerdict }
  | { readonly rule: "FREEZE"; readonly reason: string; readonly at: Millis; readonly until: Millis }
  | { readonly rule: "BREAKER"; readonly failed: number; readonly of: number; readonly limit: number }
  /** The instance is above the bound, but not for long enough. */
  | { readonly rule: "PERSISTENCE"; readonly instance: InstanceId; readonly forMs: number; readonly persistMs: number }
  | {
      readonly rule: CountRule;
      readonly subject: string;
      readonly used: number;
      readonly asked: number;
      readonly limit: number;
    };

/** Limits that are numbers. */
type CountRule = "PLAN_MOVES" | "HOUR_MOVES" | "DAY_MOVES" | "INSTANCE_MOVES" | "CLUSTER_MOVES" | "WORKSPACES";

/** Moves of some units between two instances. What is asked of the budget in one call is made together or not at all. */
export interface AskedMoves {
  readonly units: readonly PlanUnit[];
  readonly from: InstanceId;
  readonly to: InstanceId;
}

/** `hot`: away from an instance that is overloaded now. `voluntary`: any other move that need not be made. */
export type Urgency = "voluntary" | "hot";

/** The budget of one plan. Every method but `spend` only asks; `undefined` means that nothing blocks the moves. */
export interface Budget {
  /** What blocks all moves of this urgency: metrics that are not trusted, a freeze, or too many failed moves. */
  gate(urgency: Urgency): BlockedBy | undefined;
  /** What blocks these moves: the first limit that they would exceed. */
  whyNot(asked: readonly AskedMoves[], urgency: Urgency): BlockedBy | undefined;
  /** Counts these moves as planned. */
  spend(asked: readonly AskedMoves[]): void;
  /** What blocks any further move, whichever it is: the limit of the plan, of the hour or of the day is reached. */
  spent(urgency: Urgency): BlockedBy | undefined;
}

/**
 * Opens the budget of one plan. The voluntary moves of the last hour are counted first, towards every limit but that of
 * one plan; towards that of a day, those of the last day. A workspace counts once, however many of its units move.
 */
export function openBudget(snapshot: PlanSnapshot, policy: PlannerPolicy): Budget {
  return complete(openBudgetInTurns(snapshot, policy));
}

/** The same, with pauses. */
export function* openBudgetInTurns(snapshot: PlanSnapshot, { budgets }: PlannerPolicy): Resumable<Budget> {
  const recent = new Set<string>(snapshot.recentMoves.map(({ unit }) => unit));
  const units = new Map<string, PlanUnit>();
  const seen = new Set<string>();
  yield* visitInTurns(snapshot.units, (unit) => {
    if (recent.has(unit.id)) units.set(unit.id, unit);
    seen.add(unit.workspaceId);
  });
  const workspaces = seen.size;
  const most: Readonly<Record<Count["rule"], number>> = {
    PLAN_MOVES: budgets.movesPerPlan,
    HOUR_MOVES: budgets.movesPerHour,
    DAY_MOVES: budgets.movesPerDay ?? Number.POSITIVE_INFINITY,
    INSTANCE_MOVES: budgets.movesPerInstance,
    CLUSTER_MOVES: budgets.movesPerCluster,
    WORKSPACES: Math.max(budgets.leastWorkspaces, Math.floor((workspaces * budgets.workspaces) / WHOLE)),
  };
  // Hot moves get a multiple of each limit. A share of the workspaces is next to nothing in a small class, so there a
  // number holds too.
  const hotLimit = (rule: Count["rule"]): number =>
    Math.max(most[rule] * budgets.hotFactor, rule === "WORKSPACES" ? budgets.hotWorkspaces : 0);
  const used = new Map<string, number>([["DAY_MOVES ", snapshot.movesOfDay ?? 0]]);
  const moved = new Set<string>();
  const charge = (asked: readonly AskedMoves[], isPlan: boolean): void => {
    for (const { rule, subject, asked: count } of countsOf(asked, moved))
      if (isPlan || (rule !== "PLAN_MOVES" && rule !== "DAY_MOVES"))
        used.set(`${rule} ${subject}`, (used.get(`${rule} ${subject}`) ?? 0) + count);
    for (const { units: each } of asked) for (const { workspaceId } of each) moved.add(workspaceId);
  };
  // A unit that is not in the snapshot any more counts as if it had a workspace of its own.
  for (const { unit, from, to } of snapshot.recentMoves) {
    charge(
      [{ units: [units.get(unit) ?? { id: unit, workspaceId: `of ${unit}` as WorkspaceId, epoch: 0, load: ZERO_LOAD }], from, to }],
      false,
    );
  }
  const over = ({ rule, subject, asked }: Count, urgency: Urgency): BlockedBy | undefined => {
    const limit = urgency === "hot" ? hotLimit(rule) : most[rule];
    const already = used.get(`${rule} ${subject}`) ?? 0;
    return already + asked > limit ? { rule, subject, used: already, asked, limit } : undefined;
  };
  const firstOver = (counts: readonly Count[], urgency: Urgency): BlockedBy | undefined => {
    for (const count of counts) {
      const blockedBy = over(count, urgency);
      if (blockedBy !== undefined) return blockedBy;
    }
    return undefined;
  };
  return {
    gate: (urgency) => blockedByMetrics(snapshot, urgency) ?? blockedByFreeze(snapshot) ?? breaker(snapshot, budgets),
    whyNot: (asked, urgency) => firstOver(countsOf(asked, moved), urgency),
    spent: (urgency) =>
      firstOver(
        [
          { ...ONE, rule: "PLAN_MOVES" },
          { ...ONE, rule: "HOUR_MOVES" },
          { ...ONE, rule: "DAY_MOVES" },
        ],
        urgency,
      ),
    spend: (asked) => charge(asked, true),
  };
}

/** How many different workspaces these units belong to. */
export function countWorkspaces(units: readonly PlanUnit[]): number {
  const seen = new Set<string>();
  for (const { workspaceId } of units) seen.add(workspaceId);
  return seen.size;
}

interface Count {
  readonly rule: CountRule;
  readonly subject: string;
  readonly asked: number;
}

const ONE = { subject: "", asked: 1 };

/**
 * What these moves count towards: the limits of the whole plan first, then those of each instance and each cluster.
 * `moved`: workspaces that are counted already.
 */
function countsOf(asked: readonly AskedMoves[], moved: ReadonlySet<string>): readonly Count[] {
  const moves = asked.reduce((sum, { units }) => sum + units.length, 0);
  const tally = (subjects: readonly string[], rule: Count["rule"]): readonly Count[] =>
    [...new Set(subjects)].sort().map((subject) => ({ rule, subject, asked: subjects.filter((each) => each === subject).length }));
  const each = asked.flatMap(({ units, from, to }) => units.map((unit) => ({ unit, from, to })));
  const fresh = new Set(each.map(({ unit }) => unit.workspaceId).filter((id) => !moved.has(id)));
  return [
    { rule: "PLAN_MOVES", subject: "", asked: moves },
    { rule: "HOUR_MOVES", subject: "", asked: moves },
    { rule: "DAY_MOVES", subject: "", asked: moves },
    { rule: "WORKSPACES", subject: "", asked: fresh.size },
    ...tally(
      each.flatMap(({ from, to }) => [from, to]),
      "INSTANCE_MOVES",
    ),
    ...tally(
      each.flatMap(({ unit }) => [...new Set(unit.clusters)]),
      "CLUSTER_MOVES",
    ),
  ];
}

function blockedByMetrics({ metrics }: PlanSnapshot, urgency: Urgency): BlockedBy | undefined {
  if (metrics.kind === "trusted") return undefined;
  // One tenant that floods an instance can make the fleet's total jump. That must not block the moves that relieve
  // this very instance.
  return urgency === "hot" && metrics.rule === "JUMP" ? undefined : { rule: "METRICS", verdict: metrics };
}

function blockedByFreeze({ freeze, at }: PlanSnapshot): BlockedBy | undefined {
  return freeze !== undefined && freeze.until > at ? { rule: "FREEZE", reason: freeze.reason, at, until: freeze.until } : undefined;
}

/** Blocks all moves while too many of the last ones have failed. */
function breaker({ outcomes }: PlanSnapshot, { failures, ofLast }: PlannerPolicy["budgets"]): BlockedBy | undefined {
  const last = outcomes.slice(0, ofLast);
  const failed = last.filter((outcome) => outcome === "failed").length;
  return failed >= failures ? { rule: "BREAKER", failed, of: last.length, limit: failures } : undefined;
}

/** Whether the numbers recorded with a `BlockedBy` really block moves. The review of recorded plans asks this. */
export function reEvaluatesBlockedBy(blockedBy: BlockedBy): boolean {
  switch (blockedBy.rule) {
    case "METRICS":
      return blockedBy.verdict.kind === "distrusted";
    case "FREEZE":
      return blockedBy.until > blockedBy.at;
    case "BREAKER":
      return blockedBy.failed >= blockedBy.limit;
    case "PERSISTENCE":
      return blockedBy.forMs < blockedBy.persistMs;
    default:
      return blockedBy.used + blockedBy.asked > blockedBy.limit;
  }
}
