import type { Scope } from "../../domain/scope.ts";
import { includesRole } from "../auth.ts";
import type { Grant, RoleMapping } from "./port.ts";

/**
 * Everything that mappings give to somebody with this name and these groups, the highest role first. What another grant includes is left out: the
 * same role or a higher one, in the whole fleet or in the same scope. Empty: nothing is given.
 */
export function grantsFor(
  mappings: readonly RoleMapping[],
  { name, groups }: { readonly name: string; readonly groups: readonly string[] },
) {
  const own = new Set(groups);
  const given = mappings
    .filter((mapping) => mapping.names.includes(name) || mapping.groups.some((group) => own.has(group)))
    .map(({ role, scope }): Grant => ({ role, ...(scope === undefined ? {} : { scope }) }))
    // Stable: who is first among equals is first in the configuration.
    .toSorted((a, b) => Number(includesRole(b.role, a.role)) - Number(includesRole(a.role, b.role)));
  return given.filter((grant, index) => !given.some((other, at) => at !== index && includes(other, grant, at < index)));
}

function includes(other: Grant, grant: Grant, isFirst: boolean): boolean {
  if (!includesRole(other.role, grant.role)) return false;
  if (other.scope !== undefined && !isSame(other.scope, grant.scope)) return false;
  const isEqual = other.role === grant.role && (other.scope === undefined) === (grant.scope === undefined);
  return !isEqual || isFirst;
}

function isSame(a: Scope, b: Scope | undefined): boolean {
  const text = (scope: Scope | undefined): string => JSON.stringify([scope?.classes?.toSorted(), scope?.workspaces?.toSorted()]);
  return text(a) === text(b);
}
