import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { FleetSpec } from "../../domain/fleet.ts";
import { diffFleet, fleetChangesText } from "../../domain/fleet-diff.ts";

/** Subject of everything decided about the fleet as a whole, and id of its hints. */
export const FLEET = "fleet";

/** What is decided about a fleet: a document was declared, or pools that it leaves out were told to go. */
type FleetVerdict = "DECLARED" | "PRUNED";

/** The journal's entry of a change of the fleet: who made it, and what it changed. */
export function fleetDecision({
  at,
  actor,
  revision,
  pools,
  changes = "",
  verdict = "DECLARED",
}: {
  readonly at: Millis;
  readonly actor: string;
  readonly revision: number;
  readonly pools: readonly string[];
  /** What changed, for people. */
  readonly changes?: string;
  readonly verdict?: FleetVerdict;
}): Decision {
  return {
    at,
    subject: FLEET,
    kind: "fleet",
    verdict,
    rule: "COMMAND",
    details: { actor, revision, pools, ...(changes === "" ? {} : { reason: changes }) },
  };
}

/** What a document changes of the one before, for people. */
export function changesOf(before: FleetSpec | undefined, after: FleetSpec): string {
  return fleetChangesText(diffFleet(before, after));
}
