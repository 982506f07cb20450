import type { InstanceState } from "../domain/instance.ts";
import type { LoadVector } from "../domain/load.ts";
import type { Offer } from "./eligibility.ts";
import type { RingNode } from "./hash-ring.ts";

/** An instance with its present load and its capacity. */
export interface LoadedInstance extends Offer {
  readonly load: LoadVector;
  readonly capacity: LoadVector;
}

/** An instance of the unit's class, as a candidate for a placement. */
export interface Candidate extends LoadedInstance {
  readonly name: string;
  readonly weight: number;
}

/**
 * States of instances that are on the ring. One that is cordoned or drains stays on it, so that no other unit's
 * preferred instance changes. One that does not serve yet, or not any more, is left out: as a candidate it would only
 * be passed over.
 */
const ON_RING: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

/** The nodes from which the ring of these instances is built. */
export function ringNodes(candidates: readonly Pick<Candidate, "id" | "state" | "weight">[]): readonly RingNode[] {
  return candidates.filter(({ state }) => ON_RING.includes(state)).map(({ id, weight }) => ({ id, weight }));
}
