import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import { InputError } from "../../src/domain/errors.ts";

/** What a signature's file is called, after the file it is of. It holds the 64 bytes of an Ed25519 signature (RFC 8032) and nothing else. */
export const SIGNATURE = ".sig";

/** Reads a private key from a PEM file. Raises InputError, which never has anything of the file in it. */
export async function readPrivateKey(path: string): Promise<KeyObject> {
  return readKey(path, "--key", createPrivateKey);
}

/** Reads a public key from a PEM file. */
export async function readPublicKey(path: string): Promise<KeyObject> {
  return readKey(path, "--public-key", createPublicKey);
}

async function readKey(path: string, option: string, parse: (pem: string) => KeyObject): Promise<KeyObject> {
  const pem = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw unusable(option, `${path} cannot be read (${cause.code ?? cause.message})`);
  });
  const key = tryParse(pem, parse);
  if (key === undefined) throw unusable(option, `${path} holds no key in PEM form, or one with a password`);
  if (key.asymmetricKeyType !== "ed25519") throw unusable(option, `${path} holds a key of type ${key.asymmetricKeyType ?? "unknown"}`);
  return key;
}

/** The cause is left out on purpose: it may quote the file. */
function tryParse(pem: string, parse: (pem: string) => KeyObject): KeyObject | undefined {
  try {
    return parse(pem);
  } catch {
    return undefined;
  }
}

function unusable(path: string, what: string): InputError {
  return new InputError(what, { code: "release.key", path, remedy: "Give an Ed25519 key: `openssl genpkey -algorithm ed25519` makes one" });
}

export function signBytes(bytes: Buffer, key: KeyObject): Buffer {
  return sign(null, bytes, key);
}

export function isSignedBy(bytes: Buffer, signature: Buffer, key: KeyObject): boolean {
  return signature.length === 64 && verify(null, bytes, key, signature);
}
