import type { FleetSpec } from "../../domain/fleet.ts";
import { canonicalJson } from "../../domain/hash.ts";

/** Names of the pools that are declared in one of the two only, or differently; sorted. */
export function changedPools(before: FleetSpec | undefined, after: FleetSpec): readonly string[] {
  const declared = (spec: FleetSpec | undefined): ReadonlyMap<string, string> =>
    new Map((spec?.pools ?? []).map((pool) => [pool.name, canonicalJson(pool)]));
  const [old, now] = [declared(before), declared(after)];
  return [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name)).sort();
}

/** Of some pools' names those a declaration does not have. */
export function stillUndeclared(names: readonly string[], spec: FleetSpec): readonly string[] {
  return names.filter((name) => !spec.pools.some((pool) => pool.name === name));
}
