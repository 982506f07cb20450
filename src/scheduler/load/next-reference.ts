import type { Millis } from "../../domain/clock.ts";
import type { LoadVector } from "../../domain/load.ts";
import { farFrom, METRICS_LIMITS, type MetricsVerdict } from "./judge-metrics.ts";

/** The fleet's totals that a new measurement is compared with. */
export interface Reference {
  readonly total: LoadVector;
  /** The last total that was not believed, and since when every total has been near the one before. */
  readonly rival?: { readonly total: LoadVector; readonly since: Millis } | undefined;
}

/**
 * What the next totals are compared with. Trusted totals become the reference, so slow growth is followed. A jump is remembered: when
 * the totals have not jumped again for a day, they become the reference, because a fleet that really doubled must not be held up for ever. Slow change is
 * followed there too: a new level that has noons and midnights would never stay where it began. Any other distrust changes nothing.
 */
export function nextReference(
  known: Reference | undefined,
  verdict: MetricsVerdict,
  seen: { readonly total: LoadVector; readonly at: Millis; readonly negligible?: LoadVector },
): Reference | undefined {
  if (verdict.kind === "trusted") return { total: seen.total };
  if (verdict.rule !== "JUMP" || known === undefined) return known;
  const { rival } = known;
  if (rival === undefined || farFrom(rival.total, seen.total, seen.negligible) !== undefined)
    return { ...known, rival: { total: seen.total, since: seen.at } };
  if (seen.at - rival.since >= METRICS_LIMITS.believedAfterMs) return { total: seen.total };
  return { ...known, rival: { total: seen.total, since: rival.since } };
}
