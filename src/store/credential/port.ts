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
   * Goes through the next `limit` credentials after `after`, by id, whose data key is not wrapped by the current key, and wraps it anew. With
   * `dataKeys` it goes through all and encrypts each anew, with another data key: whoever has an old wrapping key and an old copy of the
   * database knows the data keys of that copy. One that was replaced or wrapped anew meanwhile is left alone, so any number may do so at
   * once, and stop at any moment.
   */
  rewrap(step: RewrapStep, signal: AbortSignal): Promise<Rewrapping>;
  /** How many credentials each key wraps, by the key's name. */
  countByKey(signal: AbortSignal): Promise<readonly KeyUse[]>;
}

export interface RewrapStep {
  readonly after: CredentialId | "";
  readonly limit: number;
  readonly dataKeys?: boolean;
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

/** A service that has keys and never gives them away: it opens what it has closed. */
export interface KeyService {
  /** The 32 bytes that it wrapped once. */
  unwrap(wrapped: string, signal: AbortSignal): Promise<Uint8Array>;
  /** A new key of 32 bytes, wrapped; nobody sees it until it is unwrapped. */
  generate(signal: AbortSignal): Promise<string>;
}
