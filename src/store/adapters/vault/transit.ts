import { readFileSync } from "node:fs";
import { InputError, UnavailableError } from "../../../domain/errors.ts";
import { createTrustingFetch, type Fetch } from "../../../runtime/trusting-fetch.ts";
import type { KeyService } from "../../credential/port.ts";

/** Where a key of a Vault's transit engine is, and as whom it is used. */
export interface TransitKey {
  /** Address of the server, without a path. */
  readonly address: string;
  /** Path at which the transit engine is mounted. */
  readonly mount: string;
  /** Name of the key there, which never leaves the server. */
  readonly key: string;
  readonly namespace?: string | undefined;
  /** File with a token. Either this or `kubernetes`. It is read for each request: an agent renews it. */
  readonly tokenFile?: string | undefined;
  /** Logs in by the token of a ServiceAccount. */
  readonly kubernetes?: { readonly role: string; readonly mount: string; readonly tokenFile: string } | undefined;
  /** File with authorities, in PEM, that are trusted beside the public ones. */
  readonly certificateAuthorityFile?: string | undefined;
}

const TIMEOUT_MS = 10_000;
/** An answer of this engine has some hundred bytes. */
const LARGEST_ANSWER = 65_536;
const KEY_BITS = 256;

/**
 * Keys that a Vault, or whoever speaks its protocol, wraps and unwraps: `POST /v1/<mount>/decrypt/<key>` and
 * `/v1/<mount>/datakey/wrapped/<key>` of its transit engine (HTTP API of the transit secrets engine, 1.x). Raises `UnavailableError` where
 * it does not answer, is sealed or says no to this caller, which somebody may mend there, and `InputError` where it does not open what it
 * was given.
 */
export function createTransitKeyService(where: TransitKey): KeyService {
  const post = async (path: string, body: object, token: string | undefined, signal: AbortSignal): Promise<unknown> => {
    const headers = {
      "content-type": "application/json",
      // Vault asks for it, against requests that somebody else's server makes.
      "x-vault-request": "true",
      ...(where.namespace === undefined ? {} : { "x-vault-namespace": where.namespace }),
      ...(token === undefined ? {} : { "x-vault-token": token }),
    };
    const url = new URL(`/v1/${path}`, where.address);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const answer = await fetchOf(where)(url, { method: "POST", headers, body: JSON.stringify(body), signal: limit, redirect: "error" });
      const text = await answer.text();
      if (answer.status === 200 && text.length <= LARGEST_ANSWER) return JSON.parse(text) as unknown;
      throw refusal(where, answer.status);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof InputError || cause instanceof UnavailableError) throw cause;
      // Without the cause's message: a library may quote what it was given.
      throw unavailable(where, `${where.address} gives no answer that can be used (${codeOf(cause)})`);
    }
  };

  const login = async (signal: AbortSignal): Promise<string> => {
    const { kubernetes, tokenFile } = where;
    if (kubernetes === undefined) return readToken(tokenFile ?? "");
    const answer = await post(
      `auth/${kubernetes.mount}/login`,
      { role: kubernetes.role, jwt: readToken(kubernetes.tokenFile) },
      undefined,
      signal,
    );
    const token = textAt(answer, "auth", "client_token");
    if (token === undefined) throw unavailable(where, `${where.address} gave no token for the role ${kubernetes.role}`);
    return token;
  };

  const keyIn = (answer: unknown): Uint8Array => {
    const bytes = Buffer.from(textAt(answer, "data", "plaintext") ?? "", "base64");
    if (bytes.length * 8 === KEY_BITS) return new Uint8Array(bytes);
    throw wrong(where, `unwraps to ${bytes.length} bytes instead of ${KEY_BITS / 8}`);
  };

  return {
    async unwrap(wrapped, signal) {
      const path = `${where.mount}/decrypt/${encodeURIComponent(where.key)}`;
      return keyIn(await post(path, { ciphertext: wrapped }, await login(signal), signal));
    },
    async generate(signal) {
      const path = `${where.mount}/datakey/wrapped/${encodeURIComponent(where.key)}`;
      const wrapped = textAt(await post(path, { bits: KEY_BITS }, await login(signal), signal), "data", "ciphertext");
      if (wrapped === undefined) throw unavailable(where, `${where.address} gave no key`);
      return wrapped;
    },
  };
}

/** The file is read each time: authorities are renewed like tokens. */
function fetchOf({ certificateAuthorityFile }: TransitKey): Fetch {
  return createTrustingFetch(certificateAuthorityFile === undefined ? "" : read(certificateAuthorityFile, "certificateAuthorityFile"));
}

function readToken(file: string): string {
  const token = read(file, "tokenFile").trim();
  if (/^[\x21-\x7e]{1,8192}$/.test(token)) return token;
  throw new InputError(`the file ${file} holds no token`, {
    code: "store.key-service-file",
    path: "encryption.keys[].vault.tokenFile",
    remedy: "Name a file with a token and nothing else",
  });
}

function read(file: string, field: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new InputError(`the file ${file} cannot be read`, {
      code: "store.key-service-file",
      path: `encryption.keys[].vault.${field}`,
      remedy: "Name a file that is there and that Argosy may read",
      cause,
    });
  }
}

function refusal(where: TransitKey, status: number): Error {
  if (status === 400) return wrong(where, "is not what this key wrapped");
  if (status === 404) return wrong(where, `leads nowhere: there is no key ${where.key} in a transit engine at ${where.mount}`);
  if (status === 401 || status === 403) return unavailable(where, `${where.address} does not let this caller use the key ${where.key}`);
  return unavailable(where, `${where.address} answers with status ${status}${status === 503 ? ": it is sealed, or starting" : ""}`);
}

function unavailable({ key }: TransitKey, why: string): UnavailableError {
  return new UnavailableError(`unwrapping a key with ${key}: ${why}`, { code: "store.key-service", context: { key } });
}

function wrong({ key }: TransitKey, why: string): InputError {
  return new InputError(`what the key ${key} of the key service should unwrap ${why}`, {
    code: "store.wrapped-key",
    path: "encryption.keys[].vault",
    remedy: "Give what `argosy keys generate` printed for this address, mount and key",
  });
}

function textAt(document: unknown, section: string, field: string): string | undefined {
  const inner = (document as Readonly<Record<string, unknown>> | null)?.[section];
  const value = (inner as Readonly<Record<string, unknown>> | null | undefined)?.[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function codeOf(error: unknown): string {
  const { code, cause, name } = error as { readonly code?: unknown; readonly cause?: unknown; readonly name?: string };
  if (typeof code === "string") return code;
  return cause === undefined ? (name ?? "unknown") : codeOf(cause);
}
