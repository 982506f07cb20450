import { classOf, type FleetSpec, type PoolSpec } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import type { PlannedChange } from "./port.ts";

/** What a person's order to make an instance, or to let one go, comes to. */
export type InstanceOrder =
  /** It is so already. */
  | { readonly kind: "stands"; readonly pool: string; readonly text: string }
  | { readonly kind: "refused"; readonly text: string }
  /** `spec`: the fleet to be declared for it; absent: the one that is declared. */
  | {
      readonly kind: "carry-out";
      readonly pool: string;
      readonly spec: FleetSpec | undefined;
      /** Instances its pool asks for; absent: it is not declared. */
      readonly min: { readonly before: number; readonly after: number } | undefined;
    };

export interface FleetFacts {
  readonly spec: FleetSpec;
  /** Every instance there is or was. */
  readonly instances: readonly Instance[];
}

/**
 * An instance is made by asking its pool for one more. Names are given in order and never twice: whoever asks for one by its name asks for the
 * same thing however often they do. `planned`: what a fleet does to its instances once it is declared.
 */
export function planCreation(
  name: string,
  { spec, instances }: FleetFacts,
  planned: (spec: FleetSpec) => readonly PlannedChange[],
): InstanceOrder {
  const refuse = (text: string): InstanceOrder => ({ kind: "refused", text });
  const known = instances.find((one) => one.name === name);
  if (known !== undefined && !isGoing(known)) return { kind: "stands", pool: known.pool, text: `instance ${name} is ${known.state}` };
  const pool = spec.pools.find((one) => name.startsWith(`${one.name}-`) && /^[1-9]\d*$/.test(name.slice(one.name.length + 1)));
  if (pool === undefined) {
    const pools = spec.pools.map((one) => one.name).join(", ");
    return refuse(`no pool has instances named ${name}: name one as <pool>-<number>; pools are ${pools}`);
  }
  if (createdIn(planned(spec), pool).includes(name))
    return { kind: "stands", pool: pool.name, text: `pool ${pool.name} asks for ${name} already` };
  const { after, wanted } = oneMore(pool, { spec, instances });
  if (wanted === undefined) return refuse(fullText(pool));
  const next = createdIn(planned(wanted), pool);
  if (!next.includes(name))
    return refuse(`names are given in order and never twice: the next instance of pool ${pool.name} is ${next.at(-1) ?? "none"}`);
  return { kind: "carry-out", pool: pool.name, spec: wanted, min: { before: pool.instances.min, after } };
}

/** The name of the instance that a pool gets when it is asked for one more than it asks for already, or why it gets none. */
export function nextInstance(
  named: string,
  { spec, instances }: FleetFacts,
  planned: (spec: FleetSpec) => readonly PlannedChange[],
): { readonly name: string } | { readonly why: string } {
  const pool = spec.pools.find((one) => one.name === named);
  if (pool === undefined) return { why: `pool ${named} is not declared` };
  const { wanted } = oneMore(pool, { spec, instances });
  if (wanted === undefined) return { why: fullText(pool) };
  const asked = createdIn(planned(spec), pool);
  const name = createdIn(planned(wanted), pool).find((one) => !asked.includes(one));
  return name === undefined ? { why: `pool ${named} gets no other instance` } : { name };
}

/** `wanted`: the fleet that asks for one instance more; absent: the pool may have no more. */
function oneMore(pool: PoolSpec, { spec, instances }: FleetFacts): { readonly after: number; readonly wanted: FleetSpec | undefined } {
  const after = Math.max(presentOf(pool, instances).length, pool.instances.min) + 1;
  return { after, wanted: after > pool.instances.max ? undefined : withMin(spec, pool, after) };
}

function createdIn(planned: readonly PlannedChange[], { name }: PoolSpec): readonly string[] {
  return planned.flatMap((one) => (one.change === "created" && one.pool === name ? [one.instance] : []));
}

function fullText({ name, instances }: PoolSpec): string {
  return `pool ${name} may have ${instances.max} instances: raise its instances.max in fleet.yaml first`;
}

/** An instance is let go by sending it away while it is empty, and by asking its pool for no other in its place. */
export function planDeletion(instance: Instance, units: number, { spec, instances }: Partial<FleetFacts>): InstanceOrder {
  const { name, state } = instance;
  if (isGoing(instance))
    return { kind: "stands", pool: instance.pool, text: `instance ${name} is ${state === "RETIRED" ? "gone" : "on its way out"} already` };
  if (units > 0) {
    const held = `${units} ${units === 1 ? "unit" : "units"}`;
    return { kind: "refused", text: `instance ${name} serves ${held}: \`argosy drain ${name}\` hands them over and lets it go` };
  }
  const pool = spec?.pools.find((one) => one.name === instance.pool);
  if (spec === undefined || pool === undefined) return { kind: "carry-out", pool: instance.pool, spec: undefined, min: undefined };
  const left = presentOf(pool, instances ?? []).filter((one) => one.id !== instance.id).length;
  const min = { before: pool.instances.min, after: Math.min(pool.instances.min, left) };
  return { kind: "carry-out", pool: pool.name, spec: min.after === min.before ? undefined : withMin(spec, pool, min.after), min };
}

const isGoing = ({ state }: Pick<Instance, "state">): boolean => state === "RETIRED" || state === "DRAINING";

function presentOf(pool: PoolSpec, instances: readonly Instance[]): readonly Instance[] {
  return instances.filter((one) => one.pool === pool.name && one.class === classOf(pool) && !isGoing(one));
}

function withMin(spec: FleetSpec, pool: PoolSpec, min: number): FleetSpec {
  const changed = { ...pool, instances: { ...pool.instances, min } };
  return { ...spec, pools: spec.pools.map((one) => (one === pool ? changed : one)) };
}
