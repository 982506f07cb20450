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
  find(hash: string, signal: AbortSignal): Promise<ApiToken | undefined>;
  list(signal: AbortSignal): Promise<readonly ApiToken[]>;
  remove(name: string, signal: AbortSignal): Promise<void>;
}
