import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";

/** Subject of everything decided about the fleet as a whole, and id of its hints. */
export const FLEET = "fleet";

/** The journal's entry of a declared fleet: who declared it, and which pools it changed. */
export function fleetDecision({
  at,
  actor,
  revision,
  pools,
}: {
  readonly at: Millis;
  readonly actor: string;
  readonly revision: number;
  readonly pools: readonly string[];
}): Decision {
  return { at, subject: FLEET, kind: "fleet", verdict: "DECLARED", rule: "COMMAND", details: { actor, revision, pools } };
}
