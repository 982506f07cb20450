import type { Clock } from "../domain/clock.ts";
import { sha256 } from "../domain/hash.ts";
import type { ApiToken, TokenRole, TokenStore } from "../store/token/port.ts";

/** How long a token that was found is believed without asking the database again, in ms: a revoked token works that much longer. */
const REMEMBERED_MS = 5_000;
const REMEMBERED_TOKENS = 1_000;
/** Tokens that are unknown are remembered as long, apart from the others, so that a flood of wrong ones drives out no right one. */
const REMEMBERED_UNKNOWN = 10_000;

const RANK: Readonly<Record<TokenRole, number>> = { viewer: 0, operator: 1, approver: 2 };

/** Whether a token's role includes what `needed` may do: approver ⊃ operator ⊃ viewer. */
export function includesRole(held: TokenRole, needed: TokenRole): boolean {
  return RANK[held] >= RANK[needed];
}

/** What is stored of a token. The token itself has 256 random bits, so a fast hash is enough. */
export function tokenHash(token: string): string {
  return sha256(`argosy-token|${token}`);
}

export type Authenticate = (authorization: string | undefined, signal: AbortSignal) => Promise<ApiToken | undefined>;

/** Finds the token of an `Authorization: Bearer …` header; `undefined` when there is none or it is unknown. */
export function createAuthenticate(tokens: TokenStore, clock: Clock): Authenticate {
  const remembered = new Map<string, { readonly token: ApiToken; readonly until: number }>();
  const unknown = new Map<string, number>();
  const until = (): number => clock.monotonicMs() + REMEMBERED_MS;
  const isUnknown = (hash: string): boolean => (unknown.get(hash) ?? 0) > clock.monotonicMs();

  const look = async (hash: string, signal: AbortSignal): Promise<ApiToken | undefined> => {
    const token = await tokens.find(hash, signal);
    remembered.delete(hash);
    if (token === undefined) remember(unknown, REMEMBERED_UNKNOWN, [hash, until()]);
    else remember(remembered, REMEMBERED_TOKENS, [hash, { token, until: until() }]);
    return token;
  };

  return async (authorization, signal) => {
    const secret = /^Bearer ([\x21-\x7e]{16,512})$/.exec(authorization ?? "")?.[1];
    if (secret === undefined) return undefined;
    const hash = tokenHash(secret);
    const known = remembered.get(hash);
    if (known !== undefined && known.until > clock.monotonicMs()) return known.token;
    return isUnknown(hash) ? undefined : look(hash, signal);
  };
}

/** Everything is forgotten when there is too much of it: whoever fills it with wrong tokens costs others one look each. */
function remember<T>(memory: Map<string, T>, most: number, [hash, value]: readonly [string, T]): void {
  if (memory.size >= most) memory.clear();
  memory.set(hash, value);
}
