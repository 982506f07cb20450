import type { Millis } from "../../domain/clock.ts";
import { type Directive, NO_DIRECTIVE } from "../../domain/directive.ts";
import { addLoad, ZERO_LOAD } from "../../domain/load.ts";
import { filterInTurns } from "../../domain/resumable.ts";
import { giveTurns } from "../../runtime/give-turns.ts";
import type { SplitRow } from "../../store/split/port.ts";
import { failedUntil } from "../plan/affinity-groups.ts";
import { freezeAt, type PlanningFacts } from "../plan/assemble.ts";
import { DEFAULT_PLANNER_POLICY } from "../plan/planner-policy.ts";
import { DEFAULT_SPLIT_POLICY, type SplitPolicy } from "./buckets.ts";
import { carryOutParts, type PartsDeps } from "./carry-out-parts.ts";
import { nextParts } from "./next-parts.ts";
import { nextPartsStep, type PartsStep } from "./next-parts-step.ts";
import { differsFromRecorded, largestUnit, planSplit, type SplitCapacity, type Splitting, splitCapacityInTurns } from "./plan-split.ts";
import { splitDecision } from "./split-decision.ts";

export interface SplittingDeps extends PartsDeps {
  /** How long fewer parts must have been enough before parts are joined, in ms; absent: seven days. */
  readonly splitting?: { readonly roomyMs: number } | undefined;
}

/** What splitting goes by in one cycle. */
interface Cycle {
  readonly facts: PlanningFacts;
  readonly at: Millis;
  /** Whether what is deployed may be cut and joined without a person. */
  readonly isAutomatic: boolean;
}

interface KnownCycle extends Cycle {
  /** The facts of all parts of the workspaces that are split, or large. */
  readonly known: ReadonlyMap<string, PlanningFacts["units"][number]>;
}

/**
 * Decides for each large workspace of a class into which parts it is split, and takes the next step towards that. One that changed meanwhile
 * waits for the next cycle. Returns whether parts change hands somewhere, so that the next step should not wait for long.
 */
export async function splitLarge(deps: SplittingDeps, cycle: Cycle, signal: AbortSignal): Promise<boolean> {
  const { facts, at } = cycle;
  const capacity = await giveTurns(splitCapacityInTurns(facts, at), deps.clock, signal);
  if (capacity === undefined) return false;
  const policy = { ...DEFAULT_SPLIT_POLICY, mergeAfterMs: deps.splitting?.roomyMs ?? DEFAULT_SPLIT_POLICY.mergeAfterMs };
  let isUnderWay = false;
  const rows = await deps.store.splits.list(facts.class, largestUnit(capacity), signal);
  const parts = new Set(rows.flatMap(({ units }) => units.map(({ id }) => id)));
  const own = await giveTurns(
    filterInTurns(facts.units, ({ unit }) => parts.has(unit.id)),
    deps.clock,
    signal,
  );
  const known = new Map(own.map((unit) => [unit.unit.id, unit]));
  for (const row of rows) {
    const step = stepOf(row, { ...cycle, known }, { capacity, policy });
    if (step === "held") continue;
    if (step.kind === "none") await splitWaiting(deps, row, { capacity, policy }, signal);
    else isUnderWay = true;
    if (step.kind !== "none" && step.kind !== "wait") await carryOutParts(deps, { row, step, facts, at }, signal);
  }
  return isUnderWay;
}

interface Limits {
  readonly capacity: SplitCapacity;
  readonly policy: SplitPolicy;
}

const NONE: PartsStep = { kind: "none" };

/**
 * The next step about what is deployed; `none` where a part waits for an instance or people decide, `held` while a freeze, a person's order
 * or a move that failed does.
 */
function stepOf(row: SplitRow, { facts, known, at, isAutomatic }: KnownCycle, { capacity, policy }: Limits): PartsStep | "held" {
  const [directive = NO_DIRECTIVE] = row.units.flatMap(({ id }) => known.get(id)?.directive ?? []);
  const isPlaced = row.units.every(({ owner }) => owner !== undefined);
  if (!isAutomatic || !isPlaced) return NONE;
  if (isHeld(directive, at) || freezeAt(facts.freezes, at) !== undefined || row.units.some(({ id }) => hasFailed(facts, id, at)))
    return "held";
  const isJoining = row.units.some(({ joins }) => joins !== undefined);
  const was = row.units.length - (isJoining ? 1 : 0);
  const load = row.units.reduce((sum, unit) => addLoad(sum, unit.load), ZERO_LOAD);
  const next = nextParts({ parts: was, roomySince: row.roomySince }, { now: at, load, target: capacity.target }, policy);
  const wanted = partsWanted(was, next.parts, { capacity, isLeaving: row.units.some(({ owner }) => isDrained(facts, owner)) });
  const units = row.units.map((unit) => ({ ...unit, isMoving: known.get(unit.id)?.movingTo !== undefined }));
  return nextPartsStep({ ...row, units }, wanted, capacity);
}

/**
 * As many as there should be by load, as far as there are instances for them. Instances that are away do not count as fewer, or each restart would join what is
 * cut again afterwards; but a part that has to leave its instance for good needs one that has no other part.
 */
function partsWanted(
  was: number,
  needed: number,
  { capacity: { candidates }, isLeaving }: { readonly capacity: SplitCapacity; readonly isLeaving: boolean },
): number {
  if (isLeaving) return Math.max(1, Math.min(needed, candidates));
  return needed > was ? Math.max(was, Math.min(needed, candidates)) : needed;
}

function isDrained({ instances }: PlanningFacts, owner: string | undefined): boolean {
  return instances.some(({ id, state }) => id === owner && state === "DRAINING");
}

function isHeld({ pin, hold }: Directive, at: Millis): boolean {
  return pin !== undefined || (hold !== undefined && hold.until > at);
}

/** A part of which a move has failed is left alone for hours, as by any plan. */
function hasFailed({ failures }: PlanningFacts, id: string, at: Millis): boolean {
  const own = failures.filter(({ unit }) => unit === id);
  const [last] = own;
  return last !== undefined && at < failedUntil({ ...last, times: own.length }, DEFAULT_PLANNER_POLICY);
}

/** Splits what waits for an instance, and decides where new buckets go. */
async function splitWaiting({ store, ids, log }: SplittingDeps, row: SplitRow, { capacity, policy }: Limits, signal: AbortSignal) {
  const before = splittingOf(row);
  const plan = planSplit(before, capacity, policy);
  const first = row.units[0];
  if (plan === undefined || first === undefined || !differsFromRecorded(plan, before)) return;
  const load = row.units.reduce((sum, unit) => addLoad(sum, unit.load), ZERO_LOAD);
  const decision = splitDecision({ subject: first.id, before, plan, load, capacity, policy });
  const { parts, openPart, roomySince, deal } = plan;
  const missing = Array.from({ length: parts }, (_, part) => part).filter((part) => !row.units.some(({ bucket }) => bucket === part));
  const newUnits = missing.map((part) => ({ id: ids.next<typeof first.id>(), part }));
  const seen = row.units.map(({ id, rowVersion }) => ({ id, rowVersion }));
  const change = { workspaceId: row.workspaceId, seen, parts, openPart, roomySince, deal, newUnits, decision };
  const isDone = await store.splits.commit(change, signal);
  if (isDone && decision !== undefined) log.info({ workspace: row.workspaceId, parts, before: before.parts }, "Splitting a workspace");
}

function splittingOf({ parts, openPart, roomySince, deal, units, applications }: SplitRow): Splitting {
  const states = units.map(({ bucket: part, epoch, load }) => ({ part, isPlaced: epoch > 0, load }));
  return { parts, openPart, roomySince, deal, units: states, applications };
}
