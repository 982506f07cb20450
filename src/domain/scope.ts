/** What a role is limited to: where both lists are there, both must hold. One without either covers nothing. */
export interface Scope {
  /** Class keys, such as eu/shared/public. */
  readonly classes?: readonly string[];
  /** Names of workspaces; one may end in `*`. A role with this list sees and changes nothing but workspaces. */
  readonly workspaces?: readonly string[];
}

/** A workspace's name, the beginning of one and `*`, or `*` alone. */
export const WORKSPACE_PATTERN = /^([a-z0-9][-a-z0-9]{0,62}\*?|\*)$/;
/** A class key: region, tier and trust, and the channel where there is one. */
export const CLASS_KEY = /^[a-z0-9][-a-z0-9]{0,62}(\/[a-z0-9][-a-z0-9]{0,62}){2,3}$/;

/** A stored scope. What is not understood limits to nothing, where a guess might give more than was meant. */
export function parseScope(stored: unknown): Scope | undefined {
  if (stored === null || stored === undefined) return undefined;
  if (typeof stored !== "object" || Array.isArray(stored)) return {};
  const { classes, workspaces, ...unknown } = stored as Readonly<Record<string, unknown>>;
  if (Object.keys(unknown).length > 0 || !isList(classes) || !isList(workspaces)) return {};
  return { ...(classes === undefined ? {} : { classes }), ...(workspaces === undefined ? {} : { workspaces }) };
}

function isList(value: unknown): value is readonly string[] | undefined {
  return value === undefined || (Array.isArray(value) && value.every((one) => typeof one === "string"));
}
