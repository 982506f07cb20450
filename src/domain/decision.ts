import type { Millis } from "./clock.ts";

/** One entry of the append-only journal: why something was decided, with the facts it was decided on. */
export interface Decision {
  readonly at: Millis;
  /** What was decided about, e.g. a unit's or an instance's id. */
  readonly subject: string;
  readonly kind: "placement" | "instance" | "fleet";
  /** e.g. CHOSEN, UNPLACEABLE, ACTIVE, FAILED */
  readonly verdict: string;
  /** The rule that decided, e.g. PREFERRED, SPILL, LEAST_LOADED. */
  readonly rule: string;
  /** Inputs and refusals, as plain JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}
