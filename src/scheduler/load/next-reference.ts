import type { Millis } from "../../domain/clock.ts";
import { LOAD_DIMENSIONS, type LoadVector } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";
import { METRICS_LIMITS, type MetricsVerdict } from "./judge-metrics.ts";

/** The fleet's totals that a new measurement is held against. */
export interface Reference {
  readonly total: LoadVector;
  /** A total that was not believed, and since when every total has been near it. */
  readonly rival?: { readonly total: LoadVector; readonly since: Millis } | undefined;
}

/** After this long a level that was not believed is what the fleet now carries. */
const BELIEVED_AFTER_MS = 24 * 60 * 60_000;

/**
 * What the next totals are held against. Totals that were trusted, so that slow growth is followed. A jump is remembered: when
 * the totals stay near their new level for a day, it becomes the reference, for a fleet that really doubled must not be braked
 * for ever. Any other distrust changes nothing.
 */
export function nextReference(
  known: Reference | undefined,
  verdict: MetricsVerdict,
  seen: { readonly total: LoadVector; readonly at: Millis },
): Reference | undefined {
  if (verdict.kind === "trusted") return { total: seen.total };
  if (verdict.rule !== "JUMP" || known === undefined) return known;
  const { rival } = known;
  if (rival === undefined || !isNear(rival.total, seen.total)) return { ...known, rival: { total: seen.total, since: seen.at } };
  return seen.at - rival.since >= BELIEVED_AFTER_MS ? { total: seen.total } : known;
}

function isNear(a: LoadVector, b: LoadVector): boolean {
  return LOAD_DIMENSIONS.every((dimension) => Math.abs(a[dimension] - b[dimension]) * WHOLE <= a[dimension] * METRICS_LIMITS.jump);
}
