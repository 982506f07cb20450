import type { Millis } from "../domain/clock.ts";
import type { Signals } from "../domain/health.ts";
import type { ProbedPod } from "../domain/probed.ts";
import { known } from "./derive-signals.ts";

/** For how long an eviction counts beside others, in ms: long enough for a disk to be filled twice. */
const COUNTED_MS = 3_600_000;

/**
 * How long ago, and how often, pods of an instance were evicted. Evicted repo-servers stay in the list, because their Deployment leaves them
 * there; other components' disks hold nothing that a workspace could fill. Absent: nothing was evicted, or pods could not be listed.
 */
export function evictionSignals(pods: readonly ProbedPod[], now: Millis): Signals {
  const limited = pods.flatMap(({ component, evicted }) => (component === "repo-server" && evicted?.by === "limit" ? evicted.at : []));
  const byNode = pods.flatMap(({ evicted }) => (evicted?.by === "node" ? evicted.at : []));
  return known({
    repoServerEvictedS: ageS(limited, now),
    repoServerEvictions: limited.length === 0 ? undefined : limited.filter((at) => now - at < COUNTED_MS).length,
    nodeEvictedS: ageS(byNode, now),
  });
}

function ageS(times: readonly Millis[], now: Millis): number | undefined {
  return times.length === 0 ? undefined : Math.max(0, now - Math.max(...times)) / 1_000;
}
