import type { CredentialId } from "../../domain/ids.ts";

/** What a credential belongs to and is for; authenticated together with the ciphertext, so that no row can stand in for another. */
export interface CredentialKey {
  readonly id: CredentialId;
  /** Workspace or instance id. */
  readonly owner: string;
  readonly purpose: string;
}

/** Secrets at rest: AES-256-GCM with a data key of each credential's own, wrapped by a key from outside the database. */
export interface CredentialStore {
  /** Stores or replaces; returns the keyed fingerprint (HMAC) by which two plaintexts can be compared. */
  put(key: CredentialKey, plaintext: string, signal: AbortSignal): Promise<string>;
  /** Stores unless there is one already; returns what is stored then. */
  putIfAbsent(key: CredentialKey, plaintext: string, signal: AbortSignal): Promise<string>;
  read(key: CredentialKey, signal: AbortSignal): Promise<string | undefined>;
  remove(key: CredentialKey, signal: AbortSignal): Promise<void>;
  /**
   * Goes through the next `limit` credentials after `after`, by id, whose data key is not wrapped by the current key, and wraps it anew. One
   * that was replaced or wrapped anew meanwhile is left alone, so any number may do so at once, and stop at any moment.
   */
  rewrap(step: { readonly after: CredentialId | ""; readonly limit: number }, signal: AbortSignal): Promise<Rewrapping>;
  /** How many credentials each key wraps, by the key's name. */
  countByKey(signal: AbortSignal): Promise<readonly KeyUse[]>;
}

export interface Rewrapping {
  readonly rewrapped: number;
  /** Those that could not be opened: their key was not given, or they are not what was sealed. They stay as they are. */
  readonly unreadable: readonly { readonly id: CredentialId; readonly keyId: string; readonly why: string }[];
  /** Where to go on; absent: there are no more. */
  readonly next: CredentialId | undefined;
}

export interface KeyUse {
  readonly keyId: string;
  readonly credentials: number;
}

/** Named keys of 32 bytes from outside the database. A name is never given to another key. */
export interface KeyRing {
  /** Name of the key that wraps what is written from now on. */
  readonly current: string;
  /** `undefined`: this process was not given a key of that name. */
  get(id: string): Uint8Array | undefined;
}
