import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Scope } from "../../domain/scope.ts";

export const TOKEN_ROLES = ["viewer", "operator", "approver"] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

export interface ApiToken {
  readonly name: string;
  readonly role: TokenRole;
  /** What the role is limited to; absent: it is for the whole fleet. */
  readonly scope?: Scope;
}

/** A token to store. What it is stays with whoever made it. */
export interface NewToken extends ApiToken {
  readonly hash: string;
  /** Free text: whom to ask about it. */
  readonly owner: string;
  readonly createdBy: string;
  /** `undefined`: it never ends. */
  readonly lifetimeMs: number | undefined;
}

/** A token that is good now. */
export interface ValidToken extends ApiToken {
  /** How long it still is, counted from the reading of it, by the database's clock; `undefined`: without end. */
  readonly endsInMs: number | undefined;
}

/** What is known of a token, good or not. Times are on the database's clock. */
export interface TokenRecord extends ApiToken {
  readonly state: "active" | "expired" | "revoked";
  /** `undefined`: nobody has said; so it is of tokens made by a version before there were owners. */
  readonly owner: string | undefined;
  readonly createdBy: string | undefined;
  readonly createdAt: Millis;
  readonly expiresAt: Millis | undefined;
  /** To a minute. */
  readonly lastUsedAt: Millis | undefined;
  readonly revokedAt: Millis | undefined;
}

/** Named tokens of the REST API; only hashes are stored. Whether one has ended is for the database's clock to say. */
export interface TokenStore {
  /**
   * Creates the token of that name, or replaces it whatever its state. With `decision`: the journal says so. Forgets tokens that ended a month
   * ago.
   */
  put(token: NewToken, decision: Decision | undefined, signal: AbortSignal): Promise<TokenRecord>;
  /** All tokens that are good now, by their hash: there are few, and one read answers however many ask. */
  readHashes(signal: AbortSignal): Promise<ReadonlyMap<string, ValidToken>>;
  /** Every token, by name. */
  list(signal: AbortSignal): Promise<readonly TokenRecord[]>;
  /** Refuses the token of that name from now on, which stays in the list for a month. Returns false where there is none to revoke. */
  revoke(name: string, decision: Decision, signal: AbortSignal): Promise<boolean>;
  /** Says of the tokens with these hashes that they were used, unless that was said within the last minute. */
  recordUse(hashes: readonly string[], signal: AbortSignal): Promise<void>;
  /** Forgets a token, which the journal does not tell: for one that was made for a single command. */
  remove(name: string, signal: AbortSignal): Promise<void>;
}
