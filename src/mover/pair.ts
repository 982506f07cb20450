import type { DesiredObject } from "../shard/managed-object.ts";
import type { Sight } from "../shard/parse-sight.ts";

/** One application of a unit that is moved, on both sides. */
export interface Pair {
  readonly name: string;
  /** What it is to be on the target under the move's epoch, as its row says now; absent where it cannot be deployed to anywhere. */
  readonly desired: DesiredObject | undefined;
  /** It deploys to an environment, whose cluster may be away. */
  readonly isAbroad: boolean;
  /** Its user deletes it: that waits for the end of the move. */
  readonly isLeaving: boolean;
  readonly source: Sight | undefined;
  readonly target: Sight | undefined;
}

/** Whether something newer than the move was written to it. */
export function isNewer(sight: Sight, epoch: number): boolean {
  return (sight.epoch ?? 0) > epoch;
}
