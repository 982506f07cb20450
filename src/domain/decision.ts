import type { Millis } from "./clock.ts";

/** What decisions are about: a unit's place, an instance's life, the declared fleet, a person's standing order, a plan of moves, a repaired register, a deletion that was given up, something wrong about who owns what, an instance's health, a release that is given to instances step by step. */
export const DECISION_KINDS = [
  "placement",
  "instance",
  "fleet",
  "directive",
  "plan",
  "register",
  "deletion",
  "ownership",
  "health",
  "rollout",
] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];

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
  /** Inputs and refusals, as plain JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}
