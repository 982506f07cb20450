import type { Millis } from "../../domain/clock.ts";
import type { VerdictState } from "../../domain/health.ts";
import type { MoveId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Move } from "../../domain/move.ts";
import { PHASES } from "../../domain/move-phases.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { isInQuarantine, isQuarantinesOwn, type Quarantine, type QuarantineEnd } from "./entries.ts";
import { type Noisiest, whyStays } from "./plan-quarantine.ts";

type Held = Pick<Noisiest, "unit" | "directive" | "parts">;

/**
 * What the next step of a quarantine is decided from. All of it is read from rows, so that any process can go on
 * where another one has died.
 */
export interface OpenFacts {
  readonly now: Millis;
  readonly quarantine: Quarantine;
  /** Whether it is the oldest open quarantine of its class: only one of a class goes on at a time. */
  readonly isFirst: boolean;
  /** Health of the instance that the workspace leaves. Absent: no verdict is recorded. */
  readonly verdict: VerdictState | undefined;
  /** The workspace's unit, directive and number of parts. Absent: the workspace is gone. */
  readonly held: Held | undefined;
  /** Why nothing may be moved now that need not be. Absent: there is no freeze. */
  readonly freeze: string | undefined;
  /** The instance that the workspace is to get. Absent: there is none of that name, or not yet. */
  readonly target: Instance | undefined;
  /** How many units have anything on the target, or will have. */
  readonly targetUnits: number;
  /** Why a live move to the target is not possible. Absent: it is possible. */
  readonly refusal: string | undefined;
  /** The live move that this quarantine has requested. Absent: none yet. */
  readonly move: Pick<Move, "id" | "phase"> | undefined;
}

/** What a quarantine does next. */
export type QuarantineStep =
  | { readonly kind: "wait"; readonly for: string }
  /** Create the target: one more instance of the pool. */
  | { readonly kind: "create" }
  /** Pin the workspace to the target. From here on the quarantine goes on even if it is not needed any more. */
  | { readonly kind: "pin"; readonly target: Instance }
  | { readonly kind: "move"; readonly target: Instance; readonly unit: PlacementUnit }
  /** Cordon the target, so that no other workspace is placed there. */
  | { readonly kind: "cordon"; readonly target: Instance }
  | QuarantineEnding;

/** The end of a quarantine: how it ended, for people too, and what has to be undone first. */
export interface QuarantineEnding {
  readonly kind: "end";
  readonly outcome: QuarantineEnd;
  readonly text: string;
  readonly undo: Undo;
}

/** What a quarantine has done and its end has to undo. */
export interface Undo {
  /** Whether to remove its pin. */
  readonly unpin: boolean;
  /** The target that it has cordoned, to be open to everybody again. */
  readonly uncordon: Instance | undefined;
  /** Its live move, if that still waits for its turn. */
  readonly abort: MoveId | undefined;
}

/**
 * Timeout of a quarantine whose target does not serve, or whose live move does not begin, in ms. An overload that lasts
 * until then has already led to the advice to drain the instance.
 */
const TIMEOUT_MS = 60 * 60_000;
const NOTHING: Undo = { unpin: false, uncordon: undefined, abort: undefined };

/**
 * Decides the next step of a quarantine that has begun.
 *
 * The steps in order: create the target if it has to be new, pin the workspace to it, request the live move, cordon the
 * target, end. The target is cordoned only once the move has begun, because a move begins only towards an open target.
 *
 * Before the pin, the quarantine of what overloads an instance is given up as soon as it is not needed any more. After it, it is given up where the
 * workspace or the target can no longer take part, or the move fails or does not get its turn. A person calls it off by
 * removing the pin.
 */
export function nextQuarantine(facts: OpenFacts): QuarantineStep {
  const { quarantine } = facts;
  const stage = stageOf(facts);
  switch (stage.kind) {
    case "gone":
      return giveUp(facts, `${quarantine.namespace} is gone`);
    case "begun": {
      const why = whyNotYet(facts, stage.held);
      return why === undefined ? prepare(facts) : giveUp(facts, why);
    }
    case "left":
      return giveUp(facts, `${quarantine.namespace} has left ${quarantine.sourceName} meanwhile`);
    case "pinned": {
      const { target, unit } = stage;
      return target.state === "ACTIVE" ? { kind: "move", target, unit } : giveUp(facts, isNow(target));
    }
    case "moving":
      return follow(facts, stage.move);
    case "arrived":
      return settle(facts, stage.target);
    case "unpinned":
      return callOff(quarantine);
    default:
      return stage satisfies never;
  }
}

/** How far a quarantine is. */
type Stage =
  /** The workspace is gone. */
  | { readonly kind: "gone" }
  /** The workspace has not been touched. */
  | { readonly kind: "begun"; readonly held: Held }
  /** The workspace lives on a third instance. */
  | { readonly kind: "left" }
  /** The workspace is pinned to the target, and no move has been requested. */
  | { readonly kind: "pinned"; readonly target: Instance; readonly unit: PlacementUnit }
  /** A move has been requested. */
  | { readonly kind: "moving"; readonly move: Pick<Move, "phase"> }
  /** The workspace lives on the target. */
  | { readonly kind: "arrived"; readonly target: Instance }
  /** A person has removed the pin, after a move had been requested. */
  | { readonly kind: "unpinned" };

/** Where the workspace lives counts more than what was requested for it: a move that has ended is still among the requests. */
function stageOf({ quarantine, held, target, move }: OpenFacts): Stage {
  const owner = held?.unit.owner;
  if (held === undefined || owner === undefined) return { kind: "gone" };
  const pinnedTo = isQuarantinesOwn(held.directive.pin, target) ? target : undefined;
  if (owner === target?.id) return pinnedTo === undefined ? { kind: "unpinned" } : { kind: "arrived", target: pinnedTo };
  if (move !== undefined) {
    // A failed move is given up also without the pin: a run that gave it up may have removed the pin and died before it
    // recorded the end.
    const isUnpinned = pinnedTo === undefined && !hasFailed(move);
    return isUnpinned ? { kind: "unpinned" } : { kind: "moving", move };
  }
  if (owner !== quarantine.source) return { kind: "left" };
  return pinnedTo === undefined ? { kind: "begun", held } : { kind: "pinned", target: pinnedTo, unit: held.unit };
}

/**
 * The workspace lives on the target: cordons it, then ends. Units that came before the cordon stay there, and the
 * text counts them.
 */
function settle({ quarantine: { namespace, sourceName }, targetUnits }: OpenFacts, target: Instance): QuarantineStep {
  if (target.state === "ACTIVE") return { kind: "cordon", target };
  const others = targetUnits - 1;
  const how = others > 0 ? `with ${others} that came before it was closed` : "alone";
  return { kind: "end", outcome: "done", text: `${namespace} has left ${sourceName} and lives on ${target.name}, ${how}`, undo: NOTHING };
}

/**
 * A person has removed the pin, and so decides where the workspace lives. A move under way goes on, and the target is
 * not cordoned from here on.
 */
function callOff({ namespace }: Quarantine): QuarantineStep {
  return { kind: "end", outcome: "called-off", text: `a person has unpinned ${namespace}`, undo: NOTHING };
}

/**
 * Whether the move has failed: it has ended, or is being aborted. Only asked while the unit is not on the target, so
 * it did not succeed.
 */
function hasFailed({ phase }: Pick<Move, "phase">): boolean {
  return !PHASES[phase].isLive || phase === "ABORT";
}

/** Follows the live move: waits for its turn, cordons the target once it has begun, and gives up where it fails. */
function follow(facts: OpenFacts, move: Pick<Move, "phase">): QuarantineStep {
  const { quarantine, target, now } = facts;
  if (hasFailed(move)) return giveUp(facts, `its live move is ${move.phase}`);
  if (move.phase === "WAITING")
    return now - quarantine.at < TIMEOUT_MS
      ? { kind: "wait", for: "the turn of its live move" }
      : giveUp(facts, "its live move did not get its turn");
  // A move that has begun goes on to a cordoned target; one that waits for its turn would not begin.
  return target?.state === "ACTIVE" ? { kind: "cordon", target } : { kind: "wait", for: "its live move" };
}

/** Why to give up a quarantine that has not touched the workspace yet; `undefined`: it goes on. */
function whyNotYet({ quarantine, verdict, isFirst, freeze, now }: OpenFacts, held: Held): string | undefined {
  const { namespace, sourceName, target, at, filled } = quarantine;
  if (!isFirst) return "another one of its class began before it";
  // Between two evictions an instance is well: what fills its repo-server is on its way there again.
  const isOver = filled === undefined && verdict !== "overloaded" && verdict !== "unknown" && verdict !== undefined;
  if (isOver) return `${sourceName} is ${verdict} again`;
  if (now - at >= TIMEOUT_MS) return `${target} does not serve yet`;
  return whyStays({ namespace, ...held }, { freeze, now });
}

/** States in which the target may still come to serve. */
const COMING: readonly Instance["state"][] = ["REQUESTED", "CREATING", "WARMING", "FAILED"];

/** Before the pin: creates the target, waits until it serves, and pins the workspace to it if nobody else is there. */
function prepare(facts: OpenFacts): QuarantineStep {
  const { quarantine, target, targetUnits, refusal } = facts;
  if (target === undefined) return quarantine.isNew ? { kind: "create" } : giveUp(facts, `${quarantine.target} is gone`);
  if (COMING.includes(target.state)) return { kind: "wait", for: `${target.name}, which is ${target.state}` };
  if (target.state !== "ACTIVE") return giveUp(facts, isNow(target));
  if (targetUnits > 0) return giveUp(facts, `${target.name} serves others by now`);
  return refusal === undefined ? { kind: "pin", target } : giveUp(facts, refusal);
}

/**
 * Ends a quarantine without success, and undoes its pin, its cordon, and its live move if that has not begun. `why`:
 * for people.
 */
export function giveUp({ quarantine, held, target, move }: OpenFacts, why: string): QuarantineEnding {
  return {
    kind: "end",
    outcome: "given-up",
    text: `no instance of its own for ${quarantine.namespace}: ${why}`,
    undo: {
      unpin: held !== undefined && isQuarantinesOwn(held.directive.pin, target),
      uncordon: target !== undefined && isInQuarantine(target) ? target : undefined,
      abort: move?.phase === "WAITING" ? move.id : undefined,
    },
  };
}

function isNow({ name, state }: Instance): string {
  return `${name} is ${state} by now`;
}
