import type { FleetSpec } from "../domain/fleet.ts";

/** Argo CD's own time between two looks and its random part, where nothing is declared; in s. */
const DEFAULT_S = 120 + 60;

/** How long after a look Argo CD looks at an application again by itself at most, on instances of these pools, in ms. */
export function resyncOf(spec: FleetSpec | undefined, pools: readonly string[]): number {
  const declared = pools.map((name) => spec?.pools.find((pool) => pool.name === name)?.engine);
  return (
    Math.max(
      ...declared.map((engine) => (engine === undefined ? DEFAULT_S : engine.reconciliationSeconds + engine.reconciliationJitterSeconds)),
      1,
    ) * 1000
  );
}
