import type { Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import { DefectError, InputError } from "../domain/errors.ts";
import type { Halt, Instance, InstanceCause, InstanceState } from "../domain/instance.ts";
import type { LoadVector } from "../domain/load.ts";
import type { InstanceEvent } from "./life-cycle.ts";
import { nextState } from "./life-cycle.ts";

/** A change of an instance's row, conditional on the revision it was decided on. */
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
  readonly halt?: Halt;
  readonly decision: Decision;
}

export interface WhatHappened {
  readonly event: InstanceEvent;
  readonly reason: string;
  readonly cause?: InstanceCause | undefined;
  readonly attempt: number;
  readonly now: Millis;
  /** Hash of what the instance should be written as, `undefined` when nobody can say. */
  readonly wantedHash?: string | undefined;
}

/** Events after which the row says what the instance was written as, or what could not be written. */
const REMEMBERING: readonly InstanceEvent[] = ["applied", "attemptFailed", "giveUp"];

/** The change an event asks for. An event the instance's state does not know is a defect of the caller. */
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
    // What is about to be created is created in the version that is asked for now.
    ...(event === "begin" ? { version: instance.desiredVersion } : {}),
    ...(wantedHash !== undefined && REMEMBERING.includes(event) ? { appliedHash: wantedHash } : {}),
    decision: decisionOf(instance, { now, verdict: state, rule: event, reason, details: { attempt, version: instance.desiredVersion } }),
  };
}

/** What may change about an instance while it stays in its state. */
export interface Note {
  readonly reason?: string;
  /** With a reason: what is decided by it. */
  readonly cause?: InstanceCause;
  readonly version?: string;
  readonly appliedHash?: string;
  readonly capacity?: LoadVector;
  readonly weight?: number;
  readonly halt?: Halt;
}

/** A change of the row without one of the state; `undefined` when it would change nothing. */
export function noteOf(instance: Instance, { now, ...note }: Note & { readonly now: Millis }): RowChange | undefined {
  const isChange = Object.entries(note).some(([key, value]) => JSON.stringify(value) !== JSON.stringify(instance[key as keyof Note]));
  if (!isChange) return undefined;
  const { id, revision, state, reason, attempt } = instance;
  const { cause, ...said } = note;
  const what = note.reason === undefined ? { rule: "DECLARATION", reason: "fleet.yaml" } : { rule: "OBSERVED", reason: note.reason };
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

function verdictOf({ reason, version, capacity, halt }: Note): string {
  if (reason !== undefined) return "WAITING";
  if (version !== undefined) return "UPGRADED";
  if (halt !== undefined) return "HALTED";
  return capacity === undefined ? "REAPPLIED" : "RESIZED";
}

/** The journal's entry about a new instance. */
export function birthOf(instance: Instance): Decision {
  return decisionOf(instance, {
    now: instance.stateSince,
    verdict: instance.state,
    rule: "MIN",
    reason: instance.reason,
    details: { engineCluster: instance.engineCluster },
  });
}

/** `verdict` is the state the instance is in from now on, or what else became of it; `rule` is what led there. */
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

/** Longest reason, in characters. */
const LONGEST = 500;

/** An error as the reason of a decision: what we were doing, what the other side said to it, and the remedy where one is known. */
export function changeReasonOf(error: Error): string {
  const said = error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
  const text = error instanceof InputError ? `${said}. ${error.remedy}` : said;
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
