import type { Clock } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";

/** When each instance's turn came last: on the monotonic clock, for one that is set back must not put anything off. */
export interface Rounds {
  isDue(id: InstanceId): boolean;
  did(id: InstanceId): void;
  /** Makes an instance due; without one, every instance. */
  distrust(id?: InstanceId): void;
}

export function createRounds(clock: Clock, everyMs: number): Rounds {
  const didAt = new Map<InstanceId, number>();
  return {
    isDue: (id) => clock.monotonicMs() - (didAt.get(id) ?? Number.NEGATIVE_INFINITY) >= everyMs,
    did: (id) => void didAt.set(id, clock.monotonicMs()),
    distrust: (id) => void (id === undefined ? didAt.clear() : didAt.delete(id)),
  };
}
