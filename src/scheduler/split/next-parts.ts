import type { Millis } from "../../domain/clock.ts";
import { type LoadVector, loadVector } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";
import { DEFAULT_SPLIT_POLICY, partsFor } from "./buckets.ts";

export interface SplitState {
  /** How many parts the workspace has. */
  readonly parts: number;
  /** Since when fewer parts would have been enough. */
  readonly roomySince?: Millis | undefined;
}

export interface SplitQuestion {
  readonly now: Millis;
  readonly load: LoadVector;
  /** What the smallest eligible instance should carry. */
  readonly target: LoadVector;
}

/**
 * How many parts a workspace should have. It gets more as soon as a part would be larger than a unit may be. It loses one when fewer
 * parts would have been enough for seven days with 40 % to spare: losing a part moves what is in it, and so does splitting it again.
 */
export function nextParts({ parts, roomySince }: SplitState, question: SplitQuestion, policy = DEFAULT_SPLIT_POLICY): SplitState {
  const { now, load, target } = question;
  const needed = partsFor(load, target, policy);
  if (needed > parts) return { parts: needed };
  const withSlack = loadVector((dimension) => Math.ceil((load[dimension] * WHOLE) / (WHOLE - policy.mergeSlack)));
  if (parts === 1 || partsFor(withSlack, target, policy) >= parts) return { parts };
  const since = roomySince ?? now;
  return now - since >= policy.mergeAfterMs ? { parts: parts - 1 } : { parts, roomySince: since };
}
