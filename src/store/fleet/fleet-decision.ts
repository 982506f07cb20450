import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";

/** Subject of everything decided about the fleet as a whole, and id of its hints. */
export const FLEET = "fleet";

/** What is decided about a fleet: a document was declared, or pools that it leaves out were told to go. */
type FleetVerdict = "DECLARED" | "PRUNED";

/** The journal's entry of a change of the fleet: who made it, and which pools it changed. */
export function fleetDecision({
  at,
  actor,
  revision,
  pools,
  verdict = "DECLARED",
}: {
  readonly at: Millis;
  readonly actor: string;
  readonly revision: number;
  readonly pools: readonly string[];
  readonly verdict?: FleetVerdict;
}): Decision {
  return { at, subject: FLEET, kind: "fleet", verdict, rule: "COMMAND", details: { actor, revision, pools } };
}
