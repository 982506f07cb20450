import { randomBytes } from "node:crypto";
import type { Clock } from "../domain/clock.ts";
import { sha256 } from "../domain/hash.ts";
import type { TokenRole, TokenStore, ValidToken } from "../store/token/port.ts";
import type { Caller } from "./identity/port.ts";

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

/**
 * Whether somebody with the role `held` may make a token with the role `wanted`: an approver may, and nobody gives more than he has. So that
 * no other role makes a token that stays when its maker's own is taken away.
 */
export function mayMakeToken(held: TokenRole, wanted: TokenRole): boolean {
  return includesRole(held, "approver") && includesRole(held, wanted);
}

/** A token of 256 random bits. */
export function makeSecret(): string {
  return `argosy_${randomBytes(32).toString("base64url")}`;
}

/** What is stored of a token. The token itself has 256 random bits, so a fast hash is enough. */
export function tokenHash(token: string): string {
  return sha256(`argosy-token|${token}`);
}

/**
 * Who is meant by an `Authorization` header; `undefined`: nobody is known by it. Several can be asked one after the other: first the one that
 * costs least to ask about what it does not know.
 */
export type Authenticate = (authorization: string | undefined) => Promise<Caller | undefined>;

/**
 * Finds the token of an `Authorization: Bearer …` header; `undefined` when there is none, it is unknown, was revoked or has ended. A token that
 * is not known yet waits for a read of all of them that began after it was shown, and those begin a fifth of a second apart: a flood of wrong
 * ones, however many and different, costs the database five small reads a second, and a right one a fifth of a second. `onUse` gets the
 * hash of each one that was good.
 *
 * How long a token still is good comes from the database with it, and this process only measures how much of that has passed: its own wall
 * clock has no say in it.
 */
export function createAuthenticate(
  tokens: Pick<TokenStore, "readHashes">,
  clock: Clock,
  onUse: (hash: string) => void = () => undefined,
): Authenticate {
  const unknown = new Map<string, number>();
  const reads = createReads(tokens, clock);
  const isUnknown = (hash: string): boolean => (unknown.get(hash) ?? 0) > clock.monotonicMs();
  const callerOf = ({ beganMs, tokens: known }: Reading, hash: string): Caller | undefined => {
    const token = known.get(hash);
    if (token === undefined || beganMs + (token.endsInMs ?? Infinity) <= clock.monotonicMs()) return undefined;
    onUse(hash);
    const { name, role, scope } = token;
    return { name, role, ...(scope === undefined ? {} : { scope }) };
  };

  return async (authorization) => {
    const secret = /^Bearer ([\x21-\x7e]{16,512})$/.exec(authorization ?? "")?.[1];
    if (secret === undefined) return undefined;
    const hash = tokenHash(secret);
    const last = reads.last(REMEMBERED_MS);
    if (last?.tokens.has(hash) === true) return callerOf(last, hash);
    if (isUnknown(hash)) return undefined;
    const read = await reads.next();
    if (read.tokens.has(hash)) return callerOf(read, hash);
    // Everything is forgotten when there is too much of it: that costs reads, whose number is bounded.
    if (unknown.size >= REMEMBERED_UNKNOWN) unknown.clear();
    unknown.set(hash, clock.monotonicMs() + REMEMBERED_MS);
    return undefined;
  };
}

/** All tokens that were good when a read of them began. */
interface Reading {
  readonly beganMs: number;
  readonly tokens: ReadonlyMap<string, ValidToken>;
}

/** Reads of all tokens, one at a time, that whoever asks before one begins has in common. */
function createReads(tokens: Pick<TokenStore, "readHashes">, clock: Clock) {
  let last: Reading | undefined;
  let beganMs = Number.NEGATIVE_INFINITY;
  let current: Promise<unknown> = Promise.resolve();
  let awaited: Promise<Reading> | undefined;

  const read = async (): Promise<Reading> => {
    awaited = undefined;
    beganMs = clock.monotonicMs();
    const began = beganMs;
    last = { beganMs: began, tokens: await tokens.readHashes(AbortSignal.timeout(READ_TIMEOUT_MS)) };
    return last;
  };
  const turn = async (): Promise<Reading> => {
    await current;
    const waitMs = beganMs + READ_EVERY_MS - clock.monotonicMs();
    if (waitMs > 0) await new Promise<void>((resolve) => void clock.after(waitMs, resolve));
    const reading = read();
    current = reading.catch(() => undefined);
    return reading;
  };
  return {
    last: (maxAgeMs: number): Reading | undefined =>
      last !== undefined && last.beganMs + maxAgeMs > clock.monotonicMs() ? last : undefined,
    next(): Promise<Reading> {
      awaited ??= turn();
      return awaited;
    },
  };
}
