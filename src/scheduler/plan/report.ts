import type { Millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { LOAD_DIMENSIONS, type LoadDimension } from "../../domain/load.ts";
import { MOVE_REASONS, type MoveReason } from "../../domain/plan.ts";
import { type Resumable, visitInTurns } from "../../domain/resumable.ts";
import type { MetricsVerdict } from "../load/judge-metrics.ts";
import { WHOLE } from "../policy.ts";
import type { Book } from "./book.ts";
import { type BlockedBy, countWorkspaces } from "./budget.ts";
import type { LowerBound } from "./lower-bound.ts";
import type { ApprovalLimits } from "./planner-policy.ts";
import type { Planning } from "./planning.ts";
import type { MoveRecord, StayRecord } from "./record.ts";

/** How evenly the ACTIVE instances are used. Shares are ppm. */
export interface Balance {
  readonly worst: InstanceId | undefined;
  /** Utilisation of the fullest one, and that divided by the mean. */
  readonly share: number;
  readonly overMean: number;
  /** How many are above the bound. */
  readonly above: number;
}

/** Why a plan is as it is: who moves and why, what it costs and gains, what blocked it, which units were considered and left. */
export interface PlanReport {
  readonly class: string;
  readonly at: Millis;
  readonly metrics: MetricsVerdict;
  /** The dimension that everything below is in. */
  readonly dimension: LoadDimension;
  readonly mean: number;
  readonly bound: number;
  readonly shedTo: number;
  readonly before: Balance;
  readonly after: Balance;
  readonly moves: Readonly<Record<MoveReason, number>>;
  /** Load of what moves from one instance to another, and the least that had to, ppm of all load. */
  readonly moved: number;
  readonly lowerBound: LowerBound;
  /** Workspaces of which something moves from one instance to another, of how many. */
  readonly workspaces: { readonly moved: number; readonly of: number };
  /** What moves from one instance to another, in whole applications. Absent in plans from before it was recorded. */
  readonly movedApplications?: number | undefined;
  /** Why a person has to approve; empty: nobody has to. */
  readonly approval: readonly string[];
  /** By which limits that was judged. Absent in plans from before they were recorded. */
  readonly approvalLimits?: ApprovalLimits | undefined;
  readonly blockedBy: readonly BlockedBy[];
  /** Units that must move and find no room; they keep their owner if they have one. */
  readonly unplaceable: readonly MoveRecord[];
  /** Units that should have left a full instance and found no room. */
  readonly withoutCandidate: readonly MoveRecord[];
  /** Units that were considered and left, and how many there were. */
  readonly left: { readonly shown: readonly StayRecord[]; readonly count: number };
  /** Instances that stay above the bound with nothing left that could be moved. */
  readonly needsCapacity: readonly InstanceId[];
}

/** A plan's report with what a person needs to read it long after. */
export interface PlanDocument extends PlanReport {
  readonly names: { readonly units: Readonly<Record<string, string>>; readonly instances: Readonly<Record<string, string>> };
  /** Of the units that move, those that take a live move. */
  readonly deployed: readonly string[];
}

/** Of units that were left where they are, a report names this many. */
const SHOWN = 50;

export function balanceOf(book: Book): Balance {
  const { mean, bound } = book.limits;
  const shares = book.candidates.flatMap(({ id, state }, candidate) => (state === "ACTIVE" ? [{ id, share: book.share(candidate) }] : []));
  const worst = shares.reduce<(typeof shares)[number] | undefined>((a, b) => (a === undefined || b.share > a.share ? b : a), undefined);
  const share = worst?.share ?? 0;
  const overMean = mean === 0 ? 0 : Math.round((share * WHOLE) / mean);
  return { worst: worst?.id, share, overMean, above: shares.filter((each) => each.share > bound).length };
}

export interface FleetBefore {
  readonly balance: Balance;
  readonly lowerBound: LowerBound;
}

export function* reportInTurns(planning: Planning, { balance, lowerBound }: FleetBefore): Resumable<PlanReport> {
  const { snapshot, book, moves, withoutInstance, policy } = planning;
  const { mean, bound, shedTo, scarce } = book.limits;
  let total = 0;
  const known = new Set<string>();
  yield* visitInTurns(book.groups, (group) => {
    total += group.load[scarce] as number;
    for (const { workspaceId } of group.units) known.add(workspaceId);
  });
  const after = balanceOf(book);
  const records = [...withoutInstance.values()];
  const limits = policy.approval;
  const moved = movedLoad(planning, scarce);
  const movedApplications = Math.ceil(movedLoad(planning, LOAD_DIMENSIONS.indexOf("applications")) / 1000);
  const workspaces = { moved: movedWorkspaces(planning), of: known.size };
  const shares = { load: ppm(moved, total), workspaces: ppm(workspaces.moved, workspaces.of) };
  const withoutCandidate = records.filter(({ reason }) => reason !== "FORCED");
  return {
    class: snapshot.class,
    at: snapshot.at,
    metrics: snapshot.metrics,
    dimension: LOAD_DIMENSIONS[scarce] as LoadDimension,
    mean,
    bound,
    shedTo,
    before: balance,
    after,
    moves: Object.fromEntries(
      MOVE_REASONS.map((reason) => [reason, moves.filter((move) => move.reason === reason).length]),
    ) as PlanReport["moves"],
    moved: shares.load,
    lowerBound: { load: ppm(lowerBound.load, total), toTarget: ppm(lowerBound.toTarget, total), moves: lowerBound.moves },
    workspaces,
    movedApplications,
    approval: [
      ...(shares.load > limits.loadShare && movedApplications > limits.applications ? ["LOAD"] : []),
      ...(shares.workspaces > limits.workspaceShare && workspaces.moved > limits.workspaces ? ["WORKSPACES"] : []),
    ],
    approvalLimits: limits,
    blockedBy: [...planning.blockedBy].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, blockedBy]) => blockedBy),
    unplaceable: records.filter(({ reason }) => reason === "FORCED"),
    withoutCandidate,
    left: leftOf(planning),
    needsCapacity: needsCapacity(planning, withoutCandidate),
  };
}

function leftOf({ stays }: Planning): PlanReport["left"] {
  const sorted = [...stays.values()].sort((a, b) => (a.unit < b.unit ? -1 : 1));
  return { shown: sorted.slice(0, SHOWN), count: sorted.length };
}

function movedLoad({ moved, moves }: Pick<Planning, "moved" | "moves">, dimension: number): number {
  const movers = new Set(moves.filter(({ from }) => from !== undefined).map(({ unit }) => unit));
  return [...moved].reduce((sum, { units, load }) => (units.some(({ id }) => movers.has(id)) ? sum + (load[dimension] as number) : sum), 0);
}

function movedWorkspaces({ moved, moves }: Planning): number {
  const movers = new Set(moves.filter(({ from }) => from !== undefined).map(({ unit }) => unit));
  return countWorkspaces([...moved].flatMap(({ units }) => units.filter(({ id }) => movers.has(id))));
}

function needsCapacity({ book }: Planning, withoutCandidate: readonly MoveRecord[]): readonly InstanceId[] {
  const tried = new Set(withoutCandidate.flatMap(({ cause }) => ("instance" in cause ? [cause.instance] : [])));
  return book.candidates.flatMap(({ id }, candidate) => (tried.has(id) && book.share(candidate) > book.limits.bound ? [id] : []));
}

function ppm(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part * WHOLE) / whole);
}
