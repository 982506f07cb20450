import type { ProbedPod } from "../../domain/probed.ts";

/** A pod that is well, and has no limit. */
export function aProbedPod(over: Partial<ProbedPod> = {}): ProbedPod {
  return { component: "redis", name: "redis-1", restarts: 0, unreadySince: undefined, memoryLimit: undefined, killedAt: undefined, ...over };
}
