import type { Stranger } from "../domain/groups.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { PlacementUnit } from "../domain/workspace.ts";

/** Where somebody wants a workspace to live. */
export type PinTarget = { readonly kind: "instance"; readonly instance: Instance } | { readonly kind: "pool"; readonly pool: string };

export interface PinQuestion {
  readonly target: PinTarget;
  readonly units: readonly Pick<PlacementUnit, "class">[];
  /** Every instance there is. */
  readonly instances: readonly Instance[];
  /** Who is, or will be, where, from whom the workspace must be apart. */
  readonly strangers: readonly (Stranger & { readonly instance: InstanceId })[];
}

const SERVING = ["ACTIVE", "CORDONED", "WARMING", "CREATING", "REQUESTED"];

/**
 * Why a workspace cannot be pinned there, and what to do instead; `undefined`: it can. A pin that nothing can meet would only
 * make its units wait: an instance on its way out, a pool without instances, one of another class than the units', and one that holds somebody from whom
 * they must be apart.
 */
export function whyNotPin({
  target,
  units,
  instances,
  strangers,
}: PinQuestion): { readonly message: string; readonly remedy: string } | undefined {
  const meant = target.kind === "instance" ? [target.instance] : instances.filter(({ pool }) => pool === target.pool);
  const name = target.kind === "instance" ? `instance ${target.instance.name}` : `pool ${target.pool}`;
  const open = meant.filter(({ state }) => SERVING.includes(state));
  if (open.length === 0) {
    const why = target.kind === "instance" ? `${name} is ${target.instance.state}` : `${name} has no instance that serves`;
    return { message: why, remedy: "Choose one of `argosy get instances` that is ACTIVE" };
  }
  const classes = new Set(open.map((instance) => instance.class));
  const misfit = units.find((unit) => !classes.has(unit.class));
  if (misfit !== undefined)
    return {
      message: `${name} is of class ${[...classes].sort().join(", ")}, the workspace of class ${misfit.class}`,
      remedy: `Choose an instance of class ${misfit.class}: \`argosy get instances -o wide\` shows classes`,
    };
  const held = open.map(({ id }) => strangers.find(({ instance }) => instance === id));
  const [stranger] = held;
  if (stranger === undefined || held.includes(undefined)) return undefined;
  const where = target.kind === "instance" ? `${name} holds` : `every instance of ${name} holds`;
  return {
    message: `${where} a workspace, or will, from which this one must be apart: of ${stranger.label}=${stranger.value}`,
    remedy: "Choose an instance without one, or move those away first: `argosy get workspaces` shows who lives where",
  };
}
