import { type Millis, millis } from "./clock.ts";
import { sha256 } from "./hash.ts";
import { asObject, asTime } from "./json.ts";

/** How long tokens of accounts are asked for, and when they are replaced. In ms. */
export interface TokenLife {
  readonly lifeMs: number;
  readonly renewAfterMs: number;
}

/** From when until when a token is good, on the clock of whoever asked for it. */
export interface TokenSpan {
  readonly madeAt: Millis;
  readonly endsAt: Millis;
}

export interface IssuedToken extends TokenSpan {
  readonly token: string;
}

/** A token is replaced after this part of its life at the latest, however short an API server made it. */
const LATEST_PART = 2 / 3;

/** By how much of the time after which a token is replaced that is done sooner, at most: what was made together is not replaced together. */
const SPREAD = 1 / 4;

/** The part of its life after which a token that still stands shows that replacing it has failed for long. */
const OVERDUE_PART = 5 / 6;

/** A token that says it was made so long after now was made by another clock, in ms: its times say nothing. */
const CLOCK_SKEW_MS = 5 * 60_000;

/**
 * When a token is replaced. The moment depends on nothing but the token's times, its account and the configuration, so that every process
 * comes to the same.
 */
export function renewalOf({ madeAt, endsAt }: TokenSpan, account: string, { renewAfterMs }: Pick<TokenLife, "renewAfterMs">): Millis {
  const latestMs = Math.min(renewAfterMs, (endsAt - madeAt) * LATEST_PART);
  return millis(Math.round(madeAt + latestMs * (1 - SPREAD * drawOf(account))));
}

/** Whether a token is to be replaced now. */
export function isRenewalDue(span: TokenSpan, account: string, { now, life }: { readonly now: Millis; readonly life: TokenLife }): boolean {
  return now >= renewalOf(span, account, life) || now < span.madeAt - CLOCK_SKEW_MS;
}

/** Whether a token stands so long that attempts to replace it must have failed. */
export function isRenewalOverdue({ madeAt, endsAt }: TokenSpan, now: Millis): boolean {
  return now >= madeAt + (endsAt - madeAt) * OVERDUE_PART;
}

/** A number from 0 to 1 that is the same for the same account everywhere. */
function drawOf(account: string): number {
  return Number.parseInt(sha256(account).slice(0, 8), 16) / 0xffff_ffff;
}

/** Longest token that is taken, in characters: tokens of API servers have about a thousand. */
const LONGEST_TOKEN = 16 * 1024;

/**
 * Reads the answer to a TokenRequest; `undefined` for what is none. How long the token is good is what the server says by its own clock,
 * and counts from when it was asked for: the server's clock may differ from ours.
 */
export function parseIssuedToken(answer: unknown, askedAt: Millis): IssuedToken | undefined {
  const { token, expirationTimestamp } = asObject(asObject(answer)["status"]);
  if (typeof token !== "string" || token.length > LONGEST_TOKEN || !/^[\x21-\x7e]+$/.test(token)) return undefined;
  const serverNow = asTime(asObject(asObject(answer)["metadata"])["creationTimestamp"]) ?? askedAt;
  const lifeMs = (asTime(expirationTimestamp) ?? serverNow) - serverNow;
  return lifeMs > 0 ? { token, madeAt: askedAt, endsAt: millis(askedAt + lifeMs) } : undefined;
}
