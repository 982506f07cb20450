import type { FleetSpec } from "../domain/fleet.ts";

/** Argo CD's own time between two looks and its random part, where nothing is declared; in s. */
const DEFAULT_S = 120 + 60;

/** How long after a look Argo CD looks again by itself at most, on whatever instance, in ms. */
export function resyncOf(spec: FleetSpec | undefined): number {
  const pools = spec?.pools.map(({ engine }) => engine.reconciliationSeconds + engine.reconciliationJitterSeconds) ?? [];
  return Math.max(DEFAULT_S, ...pools) * 1000;
}
