import type { Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import { DefectError, InputError } from "../domain/errors.ts";
import type { Halt, Instance, InstanceCause, InstanceState, RaisedResources } from "../domain/instance.ts";
import type { LoadVector } from "../domain/load.ts";
import type { InstanceEvent } from "./life-cycle.ts";
import { nextState } from "./life-cycle.ts";

/** A change of an instance's row. It is refused if the row's revision is no longer the one it was decided on. */
export interface RowChange {
  readonly id: Instance["id"];
  readonly revision: number;
  readonly state: InstanceState;
  readonly reason: string;
  readonly cause: InstanceCause | undefined;
  readonly attempt: number;
  readonly version?: string;
  readonly appliedHash?: string;
  readonly capacity?: LoadVector;
  readonly weight?: number;
  readonly raised?: RaisedResources;
  readonly halt?: Halt;
  readonly decision: Decision;
}

export interface WhatHappened {
  readonly event: InstanceEvent;
  readonly reason: string;
  readonly cause?: InstanceCause | undefined;
  readonly attempt: number;
  readonly now: Millis;
  /** Hash of the declaration that the instance is written from. `undefined`: it cannot be rendered. */
  readonly wantedHash?: string | undefined;
}

/** Events with which the row takes over that hash: it was written, or it was tried and could not be. */
const REMEMBERING: readonly InstanceEvent[] = ["applied", "attemptFailed", "giveUp"];

/** The change of the row for an event. An event that cannot happen in the instance's state is a defect of the caller. */
export function instanceChangeOf(instance: Instance, what: WhatHappened): RowChange {
  const { event, reason, cause, attempt, now, wantedHash } = what;
  const state = nextState(instance.state, event);
  if (state === undefined) {
    throw new DefectError(`Letting ${event} happen to an instance that is ${instance.state}`, {
      code: "instance.impossible-event",
      context: { instance: instance.id, event },
    });
  }
  return {
    id: instance.id,
    revision: instance.revision,
    state,
    reason,
    cause,
    attempt,
    // A creation begins with the release that is asked for now.
    ...(event === "begin" ? { version: instance.desiredVersion } : {}),
    ...(wantedHash !== undefined && REMEMBERING.includes(event) ? { appliedHash: wantedHash } : {}),
    decision: decisionOf(instance, { now, verdict: state, rule: event, reason, details: { attempt, version: instance.desiredVersion } }),
  };
}

/** What may change in a row while its state stays the same. */
export interface Note {
  readonly reason?: string;
  /** Only with a reason: what programs decide by. */
  readonly cause?: InstanceCause;
  readonly version?: string;
  readonly appliedHash?: string;
  readonly capacity?: LoadVector;
  readonly weight?: number;
  readonly halt?: Halt;
}

/** The journal's entry for a change of resources that was seen to run, or was taken back, and why, for people. */
export function raiseChangeOf(
  instance: Instance,
  {
    raised,
    isTakenBack,
    reason,
    now,
  }: { readonly raised: RaisedResources; readonly isTakenBack: boolean; readonly reason: string; readonly now: Millis },
): RowChange {
  const { id, revision, state, cause, attempt } = instance;
  const [verdict, rule] = isTakenBack ? ["LOWERED", "NOT_READY"] : ["RUNNING", "READY"];
  return {
    ...{ id, revision, state, reason: instance.reason, cause, attempt, raised },
    decision: decisionOf(instance, { now, verdict, rule, reason, details: { amounts: raised.amounts } }),
  };
}

/** A change of the row that keeps its state. `undefined`: it would change nothing. */
export function noteOf(instance: Instance, { now, ...note }: Note & { readonly now: Millis }): RowChange | undefined {
  const isChange = Object.entries(note).some(([key, value]) => JSON.stringify(value) !== JSON.stringify(instance[key as keyof Note]));
  if (!isChange) return undefined;
  const { id, revision, state, reason, attempt } = instance;
  const { cause, ...said } = note;
  const what = note.reason === undefined ? declared(instance) : { rule: "OBSERVED", reason: note.reason };
  return {
    id,
    revision,
    state,
    reason,
    attempt,
    ...said,
    cause: note.reason === undefined ? instance.cause : cause,
    decision: decisionOf(instance, { now, verdict: verdictOf(note), ...what, details: said }),
  };
}

function declared({ raised }: Instance): { readonly rule: string; readonly reason: string } {
  return { rule: "DECLARATION", reason: raised === undefined ? "fleet.yaml" : "fleet.yaml, and what it was raised to" };
}

function verdictOf({ reason, version, capacity, halt }: Note): string {
  if (reason !== undefined) return "WAITING";
  if (version !== undefined) return "UPGRADED";
  if (halt !== undefined) return "HALTED";
  return capacity === undefined ? "REAPPLIED" : "RESIZED";
}

/** The journal entry for a new instance. */
export function birthOf(instance: Instance): Decision {
  return decisionOf(instance, {
    now: instance.stateSince,
    verdict: instance.state,
    rule: "MIN",
    reason: instance.reason,
    details: { engineCluster: instance.engineCluster },
  });
}

/** The journal entry. `verdict` is the state from now on, or what else changed; `rule` is what led there. */
function decisionOf(
  instance: Instance,
  what: {
    readonly now: Millis;
    readonly verdict: string;
    readonly rule: string;
    readonly reason: string;
    readonly details: Readonly<Record<string, unknown>>;
  },
): Decision {
  const { now, verdict, rule, reason, details } = what;
  return {
    at: now,
    subject: instance.id,
    kind: "instance",
    verdict,
    rule,
    details: { name: instance.name, pool: instance.pool, reason, ...details },
  };
}

/** Greatest length of a reason, in characters. */
const LONGEST = 500;

/** An error as the reason of a decision: what we were doing, what the other side answered, and the remedy if one is known. */
export function changeReasonOf(error: Error): string {
  const said = error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
  const text = error instanceof InputError ? `${said}. ${error.remedy}` : said;
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
