import { ROLES, type Role } from "../../domain/role.ts";
import type { LiveMember, MemberAccount } from "../../store/member/port.ts";

/** Whose rights are checked: an account, with the roles of all processes that act as it. */
export interface Holder {
  /** Absent: whoever asks, for processes that have not said as whom they act. */
  readonly account: MemberAccount | undefined;
  readonly roles: readonly Role[];
}

/**
 * The distinct accounts of live members, each with the roles it is needed for, sorted by name. Members without an account are of an
 * earlier version, or have only just started: they are taken to act as whoever asks. So is everybody where nobody is known to live.
 */
export function holdersOf(members: readonly LiveMember[]): readonly Holder[] {
  const known = members.filter(({ account, roles }) => account !== undefined || rolesOf(roles).length > 0);
  if (known.length === 0) return [{ account: undefined, roles: ROLES }];
  const byAccount = Map.groupBy(known, ({ account }) =>
    account === undefined ? "" : JSON.stringify([account.user, [...account.groups].sort()]),
  );
  return [...byAccount]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => ({ account: group[0]?.account, roles: rolesOf(group.flatMap(({ roles }) => roles)) }))
    .filter(({ roles }) => roles.length > 0);
}

/** Members may have roles that are none of ours: a recovery that is under way counts as alive, and so may a newer version's. */
function rolesOf(names: readonly string[]): readonly Role[] {
  return ROLES.filter((role) => names.includes(role));
}

/** A holder in words: `system:serviceaccount:argosy-system:argosy-api (role api)`. */
export function holderText({ account, roles }: Holder): string {
  const which = roles.length === ROLES.length ? "all roles" : `${roles.length === 1 ? "role" : "roles"} ${roles.join(", ")}`;
  return `${account?.user ?? "the account of whoever answers"} (${which})`;
}
