import type { Instance } from "../domain/instance.ts";
import type { PlacementUnit } from "../domain/workspace.ts";

/** Where somebody wants a workspace to live. */
export type PinTarget = { readonly kind: "instance"; readonly instance: Instance } | { readonly kind: "pool"; readonly pool: string };

export interface PinQuestion {
  readonly target: PinTarget;
  readonly units: readonly Pick<PlacementUnit, "class">[];
  /** Every instance there is. */
  readonly instances: readonly Instance[];
}

const SERVING = ["ACTIVE", "CORDONED", "WARMING", "CREATING", "REQUESTED"];

/**
 * Why a workspace cannot be pinned there, and what to do instead; `undefined`: it can. A pin that nothing can meet would only
 * make its units wait: an instance on its way out, a pool without instances, one of another class than the units'.
 */
export function whyNotPin({ target, units, instances }: PinQuestion): { readonly message: string; readonly remedy: string } | undefined {
  const meant = target.kind === "instance" ? [target.instance] : instances.filter(({ pool }) => pool === target.pool);
  const name = target.kind === "instance" ? `instance ${target.instance.name}` : `pool ${target.pool}`;
  const open = meant.filter(({ state }) => SERVING.includes(state));
  if (open.length === 0) {
    const why = target.kind === "instance" ? `${name} is ${target.instance.state}` : `${name} has no instance that serves`;
    return { message: why, remedy: "Choose one of `argosy get instances` that is ACTIVE" };
  }
  const classes = new Set(open.map((instance) => instance.class));
  const stranger = units.find((unit) => !classes.has(unit.class));
  if (stranger === undefined) return undefined;
  return {
    message: `${name} is of class ${[...classes].sort().join(", ")}, the workspace of class ${stranger.class}`,
    remedy: `Choose an instance of class ${stranger.class}: \`argosy get instances -o wide\` shows classes`,
  };
}
