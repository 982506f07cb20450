import type { RepositorySecret } from "../../domain/repository-credential.ts";
import type { UserSecret } from "../../domain/user-resource.ts";
import type { RepositoryAddress } from "./repository-address.ts";

export type SecretReason = "SecretNotSpecified" | "SecretNotFound" | "SecretInvalidType" | "SecretIncomplete";

export type ParsedSecret =
  | { readonly ok: true; readonly secret: RepositorySecret }
  | { readonly ok: false; readonly reason: SecretReason; readonly message: string };

const TYPES: ReadonlySet<string> = new Set([
  "managed-gitops.redhat.com/repository-credential",
  "kubernetes.io/basic-auth",
  "kubernetes.io/ssh-auth",
]);
const INVALID_TYPE =
  "Secret has an invalid type, must be managed-gitops.redhat.com/repository-credential (or kubernetes.io/basic-auth, kubernetes.io/ssh-auth)";
/** Tokens and passwords are shorter by far; keys too: RSA of 8192 bits has 6,400 characters, and what a key costs grows with its cube. */
const LONGEST_WORD = 8192;
const LONGEST_KEY = 8192;

/**
 * Reads what a Secret says about how to read a repository. Which entries count depends on how the repository is reached: user
 * name and password, or a token, over HTTP; a private key over SSH. A line end behind a word is not part of it: no protocol
 * could carry it, and Secrets made from files have one.
 */
export function parseSecretOf(secret: UserSecret | undefined, { scheme }: Pick<RepositoryAddress, "scheme">): ParsedSecret {
  if (secret === undefined) return refuse("SecretNotFound", "Secret specified not found");
  if (!TYPES.has(secret.type)) return refuse("SecretInvalidType", INVALID_TYPE);
  return scheme === "ssh" ? keyOf(secret) : wordsOf(secret);
}

function refuse(reason: SecretReason, message: string): ParsedSecret {
  return { ok: false, reason, message };
}

function wordsOf({ data }: UserSecret): ParsedSecret {
  const [username, password, token] = ["username", "password", "bearerToken"].map((name) => wordOf(data[name]));
  if (username !== undefined && password !== undefined && username !== "" && password !== "") {
    if (username.includes(":")) return refuse("SecretIncomplete", "The Secret's username must not contain a colon");
    return { ok: true, secret: { kind: "basic", username, password } };
  }
  if (token !== undefined && /^[\u0021-\u007e]+$/.test(token)) return { ok: true, secret: { kind: "bearer", token } };
  return refuse(
    "SecretIncomplete",
    "The Secret needs the keys username and password, or bearerToken, to read a repository over HTTPS: each one line of text",
  );
}

/** One line of text; `undefined` for what is none. */
function wordOf(bytes: Uint8Array | undefined): string | undefined {
  const word = textOf(bytes, LONGEST_WORD)?.replace(/\r?\n$/, "");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return word === undefined || /[\u0000-\u001f\u007f]/.test(word) ? undefined : word;
}

function keyOf({ data }: UserSecret): ParsedSecret {
  const text = textOf(data["sshPrivateKey"] ?? data["ssh-privatekey"], LONGEST_KEY)
    ?.replaceAll("\r\n", "\n")
    .trim();
  const form = /^-----BEGIN (?<kind>[A-Z ]*PRIVATE KEY)-----\n(?<body>[\s\S]+)\n-----END \k<kind>-----$/.exec(text ?? "");
  if (text === undefined || form === null)
    return refuse(
      "SecretIncomplete",
      "The Secret needs the key sshPrivateKey (or ssh-privatekey), a private key in PEM, to read a repository over SSH",
    );
  if (isEncrypted(form.groups?.["kind"] ?? "", form.groups?.["body"] ?? ""))
    return refuse("SecretIncomplete", "The Secret's private key is protected by a passphrase: nobody is there to type it");
  return { ok: true, secret: { kind: "ssh", privateKey: `${text}\n` } };
}

/** PKCS#8 and the older forms say so; OpenSSH's own names its cipher behind a magic word (PROTOCOL.key). */
function isEncrypted(kind: string, body: string): boolean {
  if (kind.startsWith("ENCRYPTED") || body.includes("ENCRYPTED")) return true;
  if (kind !== "OPENSSH PRIVATE KEY") return false;
  const bytes = Buffer.from(body, "base64");
  const magic = "openssh-key-v1\0";
  return (
    bytes.subarray(0, magic.length).toString("latin1") === magic && bytes.subarray(magic.length + 4, magic.length + 8).toString() !== "none"
  );
}

/** Text in UTF-8; `undefined` for anything else, and for more than anybody needs. */
function textOf(bytes: Uint8Array | undefined, longest: number): string | undefined {
  if (bytes === undefined || bytes.length > longest) return undefined;
  const text = Buffer.from(bytes).toString("utf8");
  return text.includes("\ufffd") ? undefined : text;
}
