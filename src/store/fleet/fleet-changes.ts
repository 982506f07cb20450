import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import { StaleError } from "../../domain/errors.ts";
import type { FleetSpec } from "../../domain/fleet.ts";
import { diffFleet, fleetChangesText } from "../../domain/fleet-diff.ts";
import { canonicalJson } from "../../domain/hash.ts";

/** Subject of everything decided about the fleet as a whole, and id of its notifications. */
export const FLEET = "fleet";

/** What is decided about a fleet: a document was declared, or pools that it leaves out are to go. */
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

/** Names of the pools that are declared in one of the two only, or differently; sorted. */
export function changedPools(before: FleetSpec | undefined, after: FleetSpec): readonly string[] {
  const declared = (spec: FleetSpec | undefined): ReadonlyMap<string, string> =>
    new Map((spec?.pools ?? []).map((pool) => [pool.name, canonicalJson(pool)]));
  const [old, now] = [declared(before), declared(after)];
  return [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name)).sort();
}

/** Of some pools' names those a declaration does not have. */
export function stillUndeclared(names: readonly string[], spec: FleetSpec): readonly string[] {
  return names.filter((name) => !spec.pools.some((pool) => pool.name === name));
}

/** Somebody has declared a fleet since the one of this revision was read, and a change was made from it. */
export function declaredAnew(revision: number): StaleError {
  return new StaleError("declaring a fleet that was made from an older one", { code: "store.fleet-stale", context: { revision } });
}
