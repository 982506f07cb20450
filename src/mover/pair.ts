import type { EngineStatus } from "../domain/status.ts";
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
  /** Nobody looks at the source: whether it stands there is not known, and what was last recorded of it is all there is. */
  readonly isSourceUnknown: boolean;
  /** How it is, or was when somebody last looked, before the move. */
  readonly before: EngineStatus | undefined;
  readonly target: Sight | undefined;
}

/** Whether a sync is asked for or under way in it. */
export function isUnderWay({ sync: { operation, state } }: Sight): boolean {
  return operation !== undefined || state?.phase === "Running" || state?.phase === "Terminating";
}

/** Whether what stands on the target cannot become what is wanted there: it ends, or is of an earlier time. */
export function isUnfit(target: Sight, epoch: number): boolean {
  return target.isDeleting || (target.epoch ?? 0) < epoch;
}

/** Whether something newer than the move was written to it. */
export function isNewer(sight: Sight, epoch: number): boolean {
  return (sight.epoch ?? 0) > epoch;
}
