import type { Millis } from "../../domain/clock.ts";
import type { HealthSample } from "../../domain/health.ts";
import type { InstanceSight } from "../../domain/rollout.ts";

/** A controller that has just begun compares everything at once, for two minutes where it has 700 applications (ADR 0027), and canaries wait for that. In ms. */
const BUSY_MS = 120_000;
/** One look alone may be odd. */
const LOOKS = 3;
/** Older ones say nothing of now, in ms: three looks a minute apart, and one that was missed. */
const RECENT_MS = 300_000;

/** How long canaries wait for an instance that is ready since then, by the quickest of its latest looks; nothing before it has settled, or without canaries. */
export function canaryLatency(
  samples: readonly HealthSample[],
  { now, readyAt }: { readonly now: Millis; readonly readyAt: Millis },
): Pick<InstanceSight, "canaryLatencyMs"> {
  const isTelling = ({ at }: HealthSample): boolean => at >= readyAt + BUSY_MS && at <= now && now - at <= RECENT_MS;
  const waits = samples.filter(isTelling).flatMap(({ signals }) => signals.canaryS ?? []);
  return waits.length < LOOKS ? {} : { canaryLatencyMs: Math.min(...waits.slice(-LOOKS)) * 1_000 };
}
