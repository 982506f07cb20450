export const TOKEN_ROLES = ["viewer", "operator", "approver"] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

export interface ApiToken {
  readonly name: string;
  readonly role: TokenRole;
}

/** Named tokens of the REST API; only hashes are stored. */
export interface TokenStore {
  /** Creates or replaces the token of that name. */
  put(token: ApiToken, hash: string, signal: AbortSignal): Promise<void>;
  /** All tokens by their hash: there are few, and one read answers however many ask. */
  readHashes(signal: AbortSignal): Promise<ReadonlyMap<string, ApiToken>>;
  list(signal: AbortSignal): Promise<readonly ApiToken[]>;
  remove(name: string, signal: AbortSignal): Promise<void>;
}
