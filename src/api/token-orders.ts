import type { Clock } from "../domain/clock.ts";
import { GoneError, InputError } from "../domain/errors.ts";
import { CLASS_KEY, type Scope, WORKSPACE_PATTERN } from "../domain/scope.ts";
import type { TokenRecord, TokenRole, TokenStore } from "../store/token/port.ts";
import { makeSecret, tokenHash } from "./auth.ts";

/** A quarter of a year: long enough to be renewed in office hours, short enough that what is forgotten goes by itself. */
export const USUAL_LIFETIME_S = 90 * 24 * 3600;
/** More than ten years is none: say so. */
export const LONGEST_LIFETIME_S = 3660 * 24 * 3600;
/** Classes, and workspaces, that one token can be limited to. */
export const MOST_IN_SCOPE = 1000;
export const TOKEN_NAME = /^[a-z0-9][a-z0-9.-]{0,62}$/;

export interface TokenOrder {
  readonly name: string;
  readonly role: TokenRole;
  /** What the role is limited to. Absent: nothing. */
  readonly scope?: Scope | undefined;
  /** Absent: whoever makes it. */
  readonly owner?: string | undefined;
  /** `null`: without end. Absent: the usual. */
  readonly expiresInSeconds?: number | null | undefined;
  readonly actor: string;
}

interface TokenDeps {
  readonly tokens: TokenStore;
  readonly clock: Clock;
}

/** Makes a token, stores its hash, and returns it: the only moment it can be read. The journal says who made it, unless `isPassing`. */
export async function makeToken(
  { tokens, clock }: TokenDeps,
  {
    name,
    role,
    scope,
    owner,
    expiresInSeconds = USUAL_LIFETIME_S,
    actor,
    isPassing = false,
  }: TokenOrder & { readonly isPassing?: boolean },
  signal: AbortSignal,
): Promise<{ readonly secret: string; readonly record: TokenRecord }> {
  if (!TOKEN_NAME.test(name)) {
    throw new InputError(`${name} is no token name`, {
      code: "cli.token-name",
      path: "name",
      remedy: "Use up to 63 lower-case letters, digits, dots and dashes",
    });
  }
  checkScope(scope);
  const secret = makeSecret();
  const made = { name, role, ...(scope === undefined ? {} : { scope }), owner: owner ?? actor, createdBy: actor };
  const details = { actor, name, role, owner: made.owner, expiresInSeconds, ...(scope === undefined ? {} : { scope: { ...scope } }) };
  const decision = { ...tokenEntry(clock, name), verdict: "TOKEN_CREATED", details } as const;
  const lifetimeMs = expiresInSeconds === null ? undefined : expiresInSeconds * 1000;
  const record = await tokens.put({ ...made, hash: tokenHash(secret), lifetimeMs }, isPassing ? undefined : decision, signal);
  return { secret, record };
}

/** What is given of a scope, without what is not. */
export function scopeOf({
  classes,
  workspaces,
}: {
  readonly classes?: readonly string[] | undefined;
  readonly workspaces?: readonly string[] | undefined;
}): Scope {
  return { ...(classes === undefined ? {} : { classes }), ...(workspaces === undefined ? {} : { workspaces }) };
}

/** One that covers nothing, or can never cover anything, is a slip of whoever types it. */
function checkScope(scope: Scope | undefined): void {
  if (scope === undefined) return;
  const refuse = (text: string, path: string, remedy: string): InputError =>
    new InputError(text, { code: "cli.token-scope", path, remedy });
  const { classes = [], workspaces = [] } = scope;
  if (classes.length + workspaces.length === 0) throw refuse("limits the token to nothing", "scope", "Name classes, workspaces, or both");
  const wrongClass = classes.find((one) => !CLASS_KEY.test(one));
  if (wrongClass !== undefined)
    throw refuse(`${wrongClass} is no class`, "scope.classes", "Give one such as eu/shared/public; `argosy get instances` names them");
  const wrongWorkspace = workspaces.find((one) => !WORKSPACE_PATTERN.test(one));
  if (wrongWorkspace !== undefined)
    throw refuse(`${wrongWorkspace} is no workspace`, "scope.workspaces", "Give a namespace, or the beginning of one and *");
}

/** Throws `GoneError` when there is none of that name that could be revoked. */
export async function revokeToken(
  { tokens, clock }: TokenDeps,
  { name, actor }: { readonly name: string; readonly actor: string },
  signal: AbortSignal,
): Promise<void> {
  const decision = { ...tokenEntry(clock, name), verdict: "TOKEN_REVOKED", details: { actor, name } } as const;
  if (await tokens.revoke(name, decision, signal)) return;
  throw new GoneError(`there is no token ${name}; \`argosy token list\` names them`, { code: "api.no-such-token", context: { name } });
}

/**
 * A token is a standing order of a person, and its entries have that kind: versions of before refuse to read others.
 */
function tokenEntry(clock: Clock, name: string) {
  return { at: clock.now(), subject: `token/${name}`, kind: "directive", rule: "COMMAND" } as const;
}
