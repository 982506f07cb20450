import { type LoadVector, loadVector } from "../../domain/load.ts";
import type { PlanningFacts } from "../plan/assemble.ts";
import { DEFAULT_POLICY, WHOLE } from "../policy.ts";
import { meanShare } from "../utilisation.ts";
import { DEFAULT_SPLIT_POLICY } from "./buckets.ts";
import type { SplitRoom } from "./plan-split.ts";

/**
 * What a class offers to parts of a workspace. The smallest ACTIVE instance should carry what all carry in the mean, or 60 % where they
 * carry less: a fleet that is nearly empty is no reason to cut anybody up. `undefined`: no instance takes units.
 */
export function splitRoom(facts: Pick<PlanningFacts, "instances" | "units">, now: SplitRoom["now"]): SplitRoom | undefined {
  const active = facts.instances.filter(({ state }) => state === "ACTIVE");
  if (active.length === 0) return undefined;
  const mean = meanShare(
    facts.units.map(({ unit }) => unit.load),
    active.map(({ capacity }) => capacity),
  );
  const share = Math.min(DEFAULT_POLICY.hardLimit, Math.max(DEFAULT_POLICY.activity, mean));
  const target = loadVector((dimension) => Math.floor((Math.min(...active.map(({ capacity }) => capacity[dimension])) * share) / WHOLE));
  return { now, target, seats: active.length };
}

/** Whoever takes more than this in any dimension is larger than a unit may be. */
export function largestUnit({ target }: SplitRoom): LoadVector {
  return loadVector((dimension) =>
    target[dimension] > 0 ? Math.floor((target[dimension] * DEFAULT_SPLIT_POLICY.largestUnit) / WHOLE) : Number.MAX_SAFE_INTEGER,
  );
}
