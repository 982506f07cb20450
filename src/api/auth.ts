import type { Clock } from "../domain/clock.ts";
import { sha256 } from "../domain/hash.ts";
import type { ApiToken, TokenRole, TokenStore } from "../store/token/port.ts";

/** How long a token that was found is believed without asking the database again, in ms: a revoked token works that much longer. */
const REMEMBERED_MS = 5_000;
/** Tokens that are unknown are remembered as long, this many of them. */
const REMEMBERED_UNKNOWN = 10_000;
/** Reads of the tokens begin this far apart, in ms. */
const READ_EVERY_MS = 200;
const READ_TIMEOUT_MS = 10_000;

const RANK: Readonly<Record<TokenRole, number>> = { viewer: 0, operator: 1, approver: 2 };

/** Whether a token's role includes what `needed` may do: approver ⊃ operator ⊃ viewer. */
export function includesRole(held: TokenRole, needed: TokenRole): boolean {
  return RANK[held] >= RANK[needed];
}

/** What is stored of a token. The token itself has 256 random bits, so a fast hash is enough. */
export function tokenHash(token: string): string {
  return sha256(`argosy-token|${token}`);
}

export type Authenticate = (authorization: string | undefined) => Promise<ApiToken | undefined>;

/**
 * Finds the token of an `Authorization: Bearer …` header; `undefined` when there is none or it is unknown. A token that is not known yet
 * waits for a read of all of them that began after it was shown, and those begin a fifth of a second apart: a flood of wrong ones, however
 * many and different, costs the database five small reads a second, and a right one a fifth of a second.
 */
export function createAuthenticate(tokens: Pick<TokenStore, "readHashes">, clock: Clock): Authenticate {
  const unknown = new Map<string, number>();
  const reads = createReads(tokens, clock);
  const isUnknown = (hash: string): boolean => (unknown.get(hash) ?? 0) > clock.monotonicMs();

  return async (authorization) => {
    const secret = /^Bearer ([\x21-\x7e]{16,512})$/.exec(authorization ?? "")?.[1];
    if (secret === undefined) return undefined;
    const hash = tokenHash(secret);
    const known = reads.last(REMEMBERED_MS)?.get(hash);
    if (known !== undefined || isUnknown(hash)) return known;
    const token = (await reads.next()).get(hash);
    if (token !== undefined) return token;
    // Everything is forgotten when there is too much of it: that costs reads, whose number is bounded.
    if (unknown.size >= REMEMBERED_UNKNOWN) unknown.clear();
    unknown.set(hash, clock.monotonicMs() + REMEMBERED_MS);
    return undefined;
  };
}

type Tokens = ReadonlyMap<string, ApiToken>;

/** Reads of all tokens, one at a time, that whoever asks before one begins has in common. */
function createReads(tokens: Pick<TokenStore, "readHashes">, clock: Clock) {
  let last: { readonly beganMs: number; readonly tokens: Tokens } | undefined;
  let beganMs = Number.NEGATIVE_INFINITY;
  let current: Promise<unknown> = Promise.resolve();
  let awaited: Promise<Tokens> | undefined;

  const read = async (): Promise<Tokens> => {
    awaited = undefined;
    beganMs = clock.monotonicMs();
    const began = beganMs;
    const found = await tokens.readHashes(AbortSignal.timeout(READ_TIMEOUT_MS));
    last = { beganMs: began, tokens: found };
    return found;
  };
  const turn = async (): Promise<Tokens> => {
    await current;
    const waitMs = beganMs + READ_EVERY_MS - clock.monotonicMs();
    if (waitMs > 0) await new Promise<void>((resolve) => void clock.after(waitMs, resolve));
    const reading = read();
    current = reading.catch(() => undefined);
    return reading;
  };
  return {
    last: (maxAgeMs: number): Tokens | undefined =>
      last !== undefined && last.beganMs + maxAgeMs > clock.monotonicMs() ? last.tokens : undefined,
    next(): Promise<Tokens> {
      awaited ??= turn();
      return awaited;
    },
  };
}
