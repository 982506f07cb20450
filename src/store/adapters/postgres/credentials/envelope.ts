import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { DefectError, InputError } from "../../../../domain/errors.ts";
import type { CredentialKey, KeyRing } from "../../../credential/port.ts";

/** One credential as it is stored: nothing in here is secret without the key called `keyId`. */
export interface Sealed {
  readonly keyId: string;
  /** The credential's own key, wrapped. */
  readonly dataKey: Uint8Array;
  readonly ciphertext: Uint8Array;
  /** HMAC of the plaintext under a key derived from the wrapping one: equal plaintexts have equal ones. */
  readonly fingerprint: string;
}

export interface Envelope {
  seal(key: CredentialKey, plaintext: string): Sealed;
  /** Throws `DefectError` when any part, or the key it is asked for with, is not the one it was sealed with. */
  open(key: CredentialKey, sealed: Sealed): string;
  /** Wraps the data key anew under the current key; the ciphertext stays. */
  rewrap(key: CredentialKey, sealed: Sealed): Sealed;
  /** Encrypts the plaintext anew, with another data key under the current key. */
  reseal(key: CredentialKey, sealed: Sealed): Sealed;
}

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
/** NIST SP 800-38D: 96 random bits; a data key seals one plaintext, a wrapping key far fewer than 2^32. */
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Envelope encryption (NIST SP 800-57): each plaintext under a random key of its own, that key wrapped by a named key of the
 * ring. Credential, owner and purpose are authenticated with both, so that no row can stand in for another.
 */
export function createEnvelope(ring: KeyRing): Envelope {
  const wrappingKey = (id: string): Uint8Array => {
    const key = ring.get(id);
    if (key?.length === KEY_BYTES) return key;
    const problem = key === undefined ? "was not given" : `has ${key.length} bytes instead of ${KEY_BYTES}`;
    throw new InputError(`using the encryption key ${id}: it ${problem}`, {
      code: "store.encryption-key",
      path: "encryption.keys",
      remedy: "Give every key that stored credentials are wrapped by; `head -c 32 /dev/urandom | base64` makes one",
      context: { key: id },
    });
  };

  const wrap = (key: CredentialKey, dataKey: Uint8Array, plaintext: string): Omit<Sealed, "ciphertext"> => {
    const current = wrappingKey(ring.current);
    return {
      keyId: ring.current,
      dataKey: encrypt(current, dataKey, binding("data key", key)),
      fingerprint: fingerprint(current, plaintext),
    };
  };

  const unwrap = (key: CredentialKey, { keyId, dataKey }: Sealed): Uint8Array =>
    decrypt(wrappingKey(keyId), dataKey, { key, part: "data key" });

  const open = (key: CredentialKey, sealed: Sealed): string =>
    Buffer.from(decrypt(unwrap(key, sealed), sealed.ciphertext, { key, part: "plaintext" })).toString("utf8");

  const seal = (key: CredentialKey, plaintext: string): Sealed => {
    const dataKey = randomBytes(KEY_BYTES);
    return { ...wrap(key, dataKey, plaintext), ciphertext: encrypt(dataKey, Buffer.from(plaintext, "utf8"), binding("plaintext", key)) };
  };

  return {
    seal,
    open,
    reseal: (key, sealed) => seal(key, open(key, sealed)),
    rewrap: (key, sealed) => ({ ...wrap(key, unwrap(key, sealed), open(key, sealed)), ciphertext: sealed.ciphertext }),
  };
}

/** What is authenticated with a part. JSON, because ids and purposes may hold any separator. */
function binding(part: string, { id, owner, purpose }: CredentialKey): Buffer {
  return Buffer.from(JSON.stringify(["argosy credential 1", part, id, owner, purpose]), "utf8");
}

function encrypt(key: Uint8Array, plain: Uint8Array, bound: Uint8Array): Uint8Array {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(bound);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

function decrypt(
  secret: Uint8Array,
  sealed: Uint8Array,
  { key, part }: { readonly key: CredentialKey; readonly part: string },
): Uint8Array {
  const [iv, tag, body] = [
    sealed.subarray(0, IV_BYTES),
    sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES),
    sealed.subarray(IV_BYTES + TAG_BYTES),
  ];
  try {
    const decipher = createDecipheriv(CIPHER, secret, iv, { authTagLength: TAG_BYTES }).setAAD(binding(part, key)).setAuthTag(tag);
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch (cause) {
    throw new DefectError(`opening the ${part} of a credential that is not what was sealed`, {
      code: "store.credential-tampered",
      context: { credential: key.id, owner: key.owner, purpose: key.purpose },
      cause,
    });
  }
}

function fingerprint(wrappingKey: Uint8Array, plaintext: string): string {
  const derived = Buffer.from(hkdfSync("sha256", wrappingKey, "", "argosy credential fingerprint", KEY_BYTES));
  return createHmac("sha256", derived).update(plaintext, "utf8").digest("hex");
}

/** A ring of keys that are held in memory; `current` must name one of them. */
export function createKeyRing(current: string, keys: ReadonlyMap<string, Uint8Array>): KeyRing {
  return { current, get: (id) => keys.get(id) };
}
