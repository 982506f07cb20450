import type { Millis } from "../../domain/clock.ts";
import { canonicalJson, createSha256 } from "../../domain/hash.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { UnitNeeds } from "../../domain/needs.ts";
import { type Resumable, visitInTurns } from "../../domain/resumable.ts";
import type { Candidate } from "../candidate.ts";
import type { MetricsVerdict } from "../load/judge-metrics.ts";

/** An instance as the planner sees it. It has no load of its own: what it carries is the sum of its units. */
export interface PlanCandidate extends Omit<Candidate, "load" | "occupied" | "holds"> {
  /** The health verdict says that it is overloaded now. */
  readonly isOverloaded: boolean;
  /** It is new, or was emptied, and should take its share of the load. */
  readonly isFilling: boolean;
  /** Since when it has been above the bound (`nextAbove`). */
  readonly aboveSince?: Millis | undefined;
}

export interface PlanUnit {
  readonly id: UnitId;
  readonly workspaceId: WorkspaceId;
  readonly owner?: InstanceId | undefined;
  readonly epoch: number;
  /** Planning load. */
  readonly load: LoadVector;
  /** Load of the last ten minutes: what counts on an instance that is overloaded. */
  readonly recentLoad?: LoadVector | undefined;
  readonly needs?: UnitNeeds | undefined;
  /** Where others of its group live, or are being moved to: if it has to leave, it goes there if that has room. */
  readonly companions?: InstanceId | undefined;
  /** Names of the managed clusters it deploys to. */
  readonly clusters?: readonly string[] | undefined;
  /** A move to this instance is under way: both count it. */
  readonly movingTo?: InstanceId | undefined;
  /** Applications pass between it and another part of its workspace on its instance, which takes units: whoever cuts and joins moves the two. */
  readonly isPassing?: true | undefined;
  /** When its last move ended. */
  readonly movedAt?: Millis | undefined;
  /** Moves of it that failed in a row, the last of them. */
  readonly failed?: { readonly times: number; readonly at: Millis; readonly to: InstanceId } | undefined;
  readonly doNotMoveUntil?: Millis | undefined;
}

/** A voluntary move that was begun less than an hour before the snapshot. */
export interface RecentMove {
  readonly unit: UnitId;
  readonly from: InstanceId;
  readonly to: InstanceId;
}

/** Everything a plan is made from, read in one transaction. Nothing else decides: no clock, no chance, no order of rows. */
export interface PlanSnapshot {
  readonly class: string;
  readonly at: Millis;
  readonly candidates: readonly PlanCandidate[];
  readonly units: readonly PlanUnit[];
  readonly metrics: MetricsVerdict;
  readonly recentMoves: readonly RecentMove[];
  /** How many voluntary moves there were within the last day; absent: nothing limits them. */
  readonly movesOfDay?: number;
  /** How the last moves ended, newest first. */
  readonly outcomes: readonly ("done" | "failed")[];
  /** Why nothing is moved now that need not be: a freeze window, a wave that bakes. */
  readonly freeze?: { readonly reason: string; readonly until: Millis } | undefined;
}

/**
 * Content hash of a snapshot. Every row becomes a line of text with its fields in one order, and the rows are sorted, so that
 * they may come in any order. Lines, not one canonical JSON: that takes seconds for 100,000 units.
 */
export function* snapshotHashInTurns(snapshot: PlanSnapshot): Resumable<string> {
  const { candidates, units, recentMoves, ...head } = snapshot;
  const moved = recentMoves.map(({ unit, from, to }) => `moved ${unit} ${from} ${to}`).sort();
  const hash = createSha256();
  hash.add(`${canonicalJson(head)}\n`);
  yield* visitInTurns(inOrder(candidates), (candidate) => hash.add(`${candidateLine(candidate)}\n`));
  yield* visitInTurns(inOrder(units), (unit) => hash.add(`${unitLine(unit)}\n`));
  hash.add(moved.join("\n"));
  return hash.end().slice(0, 32);
}

function vector(load: LoadVector | undefined): string {
  if (load === undefined) return "-";
  const { applications, clusterEntries, cachedResources, milliCpu, gitPerMinute } = load;
  return `${applications},${clusterEntries},${cachedResources},${milliCpu},${gitPerMinute}`;
}

function candidateLine(candidate: PlanCandidate): string {
  const { id, state, entries, weight, capacity, traits, isOverloaded, isFilling, aboveSince } = candidate;
  const flags = `${isOverloaded ? "hot" : "-"} ${isFilling ? "fill" : "-"} ${aboveSince ?? "-"}`;
  return `candidate ${id} ${state} ${weight} ${vector(capacity)} ${flags} ${traits === undefined ? "-" : canonicalJson(traits)}${entries === undefined ? "" : ` ${entries}`}`;
}

function unitLine(unit: PlanUnit): string {
  const {
    id,
    workspaceId,
    owner,
    epoch,
    load,
    recentLoad,
    movingTo,
    isPassing,
    movedAt,
    doNotMoveUntil,
    needs,
    companions,
    clusters,
    failed,
  } = unit;
  const row = `unit ${id} ${workspaceId} ${owner ?? "-"} ${epoch} ${vector(load)} ${vector(recentLoad)}`;
  const times = `${isPassing === undefined ? "" : "passing "}${movingTo ?? "-"} ${movedAt ?? "-"} ${doNotMoveUntil ?? "-"}`;
  const isPlain = needs === undefined && companions === undefined && clusters === undefined && failed === undefined;
  return isPlain ? `${row} ${times}` : `${row} ${times} ${canonicalJson({ needs, companions, clusters: clusters?.toSorted(), failed })}`;
}

/** Rows by id; most come so, and then nothing is sorted. */
export function inOrder<Row extends { readonly id: string }>(rows: readonly Row[]): readonly Row[] {
  const isSorted = rows.every((row, index) => index === 0 || (rows[index - 1] as Row).id < row.id);
  return isSorted ? rows : [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
}
