import { readFileSync } from "node:fs";
import { decodeEncryptionKey } from "../config/encryption-key.ts";
import type { Encryption, KeySource } from "../config.ts";
import { InputError } from "../domain/errors.ts";
import { createKeyRing } from "../store/adapters/postgres/credentials/envelope.ts";
import { createTransitKeyService } from "../store/adapters/vault/transit.ts";
import type { KeyRing } from "../store/credential/port.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The keys a configuration names, each from where it is. Raises `InputError` for one that is none, and `UnavailableError` where a key
 * service does not unwrap one now.
 */
export async function readKeyRing({ keys, current }: Encryption, env: Env, signal: AbortSignal): Promise<KeyRing> {
  const read = keys.map(async ({ id, from }) => [id, await readKey(id, from, { env, signal })] as const);
  return createKeyRing(current, new Map(await Promise.all(read)));
}

async function readKey(
  id: string,
  from: KeySource,
  { env, signal }: { readonly env: Env; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  if ("vault" in from) return createTransitKeyService(from.vault).unwrap(from.vault.wrapped, signal);
  return decodeKey("file" in from ? readKeyFile(from.file) : (env[from.env] ?? ""), id);
}

export function decodeKey(text: string, id: string): Uint8Array {
  const key = decodeEncryptionKey(text.trim());
  if (key !== undefined) return key;
  throw new InputError(`key ${id} is not 32 bytes in base64`, {
    code: "config.key",
    path: "encryption.keys",
    remedy: "Make one with: head -c 32 /dev/urandom | base64",
  });
}

export function readKeyFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new InputError(`the key in ${file} cannot be read`, {
      code: "config.key-file",
      path: "encryption.keys",
      remedy: "Name a file with 32 bytes in base64 that Argosy may read",
      cause,
    });
  }
}
