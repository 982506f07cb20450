import type { Millis } from "./clock.ts";

/**
 * What decisions are about: a unit's place, an instance's life, the declared fleet, a person's standing order, a plan of moves, a repaired owner
 * binding, a deletion that was given up, something wrong about who owns what, an instance's health, a release that is given to instances step
 * by step.
 */
export const DECISION_KINDS = [
  "placement",
  "instance",
  "fleet",
  "directive",
  "plan",
  "owner-binding",
  "deletion",
  "ownership",
  "health",
  "rollout",
] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];

/**
 * What is recorded with a decision. The named members mean the same whatever was decided, and are absent where there is nothing to
 * say; all others are the facts that this one decision rests on.
 */
export interface DecisionDetails {
  readonly [fact: string]: unknown;
  /** Why, as a sentence for people. */
  readonly reason?: string;
  /** Who ordered it. Absent: Argosy decided by itself. */
  readonly actor?: string;
  /** What people call the subject. */
  readonly name?: string;
  /** Of the workspace it is about. */
  readonly namespace?: string;
  /** Id of the instance that something is moved away from. */
  readonly from?: string;
  /** Id of the instance that something is moved to. */
  readonly to?: string;
  /** Id of the live move. */
  readonly move?: string;
  /** Id of the plan that it is a step of. */
  readonly plan?: string;
}

/** One entry of the append-only journal: why something was decided, with the facts it was decided on. */
export interface Decision {
  readonly at: Millis;
  /** What was decided about, e.g. a unit's or an instance's id. */
  readonly subject: string;
  readonly kind: DecisionKind;
  /** e.g. CHOSEN, UNPLACEABLE, ACTIVE, FAILED */
  readonly verdict: string;
  /** The rule that decided, e.g. PREFERRED, SPILL, LEAST_LOADED. */
  readonly rule: string;
  /** Plain JSON. */
  readonly details: DecisionDetails;
}
