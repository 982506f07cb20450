import type { Millis } from "../../domain/clock.ts";
import type { VerdictState } from "../../domain/health.ts";
import type { MoveId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Move } from "../../domain/move.ts";
import { PHASES } from "../../domain/move-phases.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { isInQuarantine, isOurs, type Quarantine, type QuarantineEnd } from "./entries.ts";
import { type Noisiest, whyStays } from "./why-not-quarantine.ts";

/** What a quarantine that has begun is carried on from: rows alone, so that whoever dies at any moment is followed by anybody. */
export interface OpenFacts {
  readonly now: Millis;
  readonly quarantine: Quarantine;
  /** Whether none of its class began before it and has not ended. */
  readonly isFirst: boolean;
  /** How the instance is that it leaves. */
  readonly verdict: VerdictState | undefined;
  /** Absent: the workspace is gone. */
  readonly held: Pick<Noisiest, "unit" | "directive" | "parts"> | undefined;
  readonly freeze: string | undefined;
  /** Absent: there is none of that name. */
  readonly target: Instance | undefined;
  /** Units of which the target has something. */
  readonly targetUnits: number;
  /** What speaks against a live move there. */
  readonly refusal: string | undefined;
  /** The live move that was asked for. */
  readonly move: Pick<Move, "id" | "phase"> | undefined;
}

export type QuarantineStep =
  | { readonly kind: "wait"; readonly for: string }
  | { readonly kind: "create" }
  /** Nothing is undone after it but by a person, or because the move failed. */
  | { readonly kind: "pin"; readonly target: Instance }
  | { readonly kind: "move"; readonly target: Instance; readonly unit: PlacementUnit }
  | { readonly kind: "cordon"; readonly target: Instance }
  | QuarantineEnding;

export interface QuarantineEnding {
  readonly kind: "end";
  readonly outcome: QuarantineEnd;
  readonly text: string;
  readonly undo: Undo;
}

export interface Undo {
  readonly unpin: boolean;
  /** The instance to be given back to everybody. */
  readonly uncordon: Instance | undefined;
  readonly abort: MoveId | undefined;
}

/** What is not on its way after so long, in ms, stays: a person has been told for long. */
const PATIENCE_MS = 60 * 60_000;
const NOTHING: Undo = { unpin: false, uncordon: undefined, abort: undefined };

/**
 * The next step of a quarantine: ask for the instance, pin the workspace to it, ask for the live move, and keep others off once that has begun, which
 * takes a target that is open. Until the pin it is given up when it is not needed any more; after it, when the move fails.
 */
export function nextQuarantine(facts: OpenFacts): QuarantineStep {
  const { quarantine, held, target, move } = facts;
  const owner = held?.unit.owner;
  if (held === undefined || owner === undefined) return giveUp(facts, `${quarantine.namespace} is gone`);
  const isPinned = isOurs(held.directive.pin, target);
  if (owner === target?.id) return isPinned ? settle(facts, target) : callOff(quarantine);
  // One that failed is unpinned by whoever gives it up.
  if (move !== undefined) return isPinned || hasFailed(move) ? follow(facts, move) : callOff(quarantine);
  if (owner !== quarantine.source) return giveUp(facts, `${quarantine.namespace} has left ${quarantine.sourceName} meanwhile`);
  if (isPinned && target !== undefined)
    return target.state === "ACTIVE" ? { kind: "move", target, unit: held.unit } : giveUp(facts, isNow(target));
  const why = whyNotYet(facts, held);
  return why === undefined ? prepare(facts) : giveUp(facts, why);
}

/** It lives there. Who came before the instance was closed stays there too, which is said. */
function settle({ quarantine: { namespace, sourceName }, targetUnits }: OpenFacts, target: Instance): QuarantineStep {
  if (target.state === "ACTIVE") return { kind: "cordon", target };
  const others = targetUnits - 1;
  const how = others > 0 ? `with ${others} that came before it was closed` : "alone";
  return { kind: "end", outcome: "done", text: `${namespace} has left ${sourceName} and lives on ${target.name}, ${how}`, undo: NOTHING };
}

/** Whoever unpins it decides where it lives: what is under way goes on, and nobody is kept off. */
function callOff({ namespace }: Quarantine): QuarantineStep {
  return { kind: "end", outcome: "called-off", text: `a person has unpinned ${namespace}`, undo: NOTHING };
}

/** Asked of one whose unit is not on the target. */
function hasFailed({ phase }: Pick<Move, "phase">): boolean {
  return !PHASES[phase].isLive || phase === "ABORT";
}

function follow(facts: OpenFacts, move: Pick<Move, "phase">): QuarantineStep {
  const { quarantine, target, now } = facts;
  if (hasFailed(move)) return giveUp(facts, `its live move is ${move.phase}`);
  if (move.phase === "WAITING")
    return now - quarantine.at < PATIENCE_MS
      ? { kind: "wait", for: "the turn of its live move" }
      : giveUp(facts, "its live move did not get its turn");
  // Only what has begun may find its target closed.
  return target?.state === "ACTIVE" ? { kind: "cordon", target } : { kind: "wait", for: "its live move" };
}

/** Why what has not touched the workspace yet is let be. */
function whyNotYet({ quarantine, verdict, isFirst, freeze, now }: OpenFacts, held: NonNullable<OpenFacts["held"]>): string | undefined {
  const { namespace, sourceName, target, at } = quarantine;
  if (!isFirst) return "another one of its class began before it";
  if (verdict !== "overloaded" && verdict !== "unknown" && verdict !== undefined) return `${sourceName} is ${verdict} again`;
  if (now - at >= PATIENCE_MS) return `${target} does not serve yet`;
  return whyStays({ namespace, ...held }, { freeze, now });
}

const COMING: readonly Instance["state"][] = ["REQUESTED", "CREATING", "WARMING", "FAILED"];

function prepare(facts: OpenFacts): QuarantineStep {
  const { quarantine, target, targetUnits, refusal } = facts;
  if (target === undefined) return quarantine.isNew ? { kind: "create" } : giveUp(facts, `${quarantine.target} is gone`);
  if (COMING.includes(target.state)) return { kind: "wait", for: `${target.name}, which is ${target.state}` };
  if (target.state !== "ACTIVE") return giveUp(facts, isNow(target));
  if (targetUnits > 0) return giveUp(facts, `${target.name} serves others by now`);
  return refusal === undefined ? { kind: "pin", target } : giveUp(facts, refusal);
}

/** Ends it, and takes back what was done for it. */
export function giveUp({ quarantine, held, target, move }: OpenFacts, why: string): QuarantineEnding {
  return {
    kind: "end",
    outcome: "given-up",
    text: `no instance of its own for ${quarantine.namespace}: ${why}`,
    undo: {
      unpin: held !== undefined && isOurs(held.directive.pin, target),
      uncordon: target !== undefined && isInQuarantine(target) ? target : undefined,
      abort: move?.phase === "WAITING" ? move.id : undefined,
    },
  };
}

function isNow({ name, state }: Instance): string {
  return `${name} is ${state} by now`;
}
