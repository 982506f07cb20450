/** Stands where a secret was. */
export const REDACTED = "[redacted]";

/**
 * Names of fields whose value is secret whatever it is, compared without case, dashes and underscores. Words for whole
 * documents that hold credentials are among them (kubeconfig, the data of a Secret).
 */
const SECRET_NAMES = new Set(
  [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "token",
    "bearertoken",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "apitoken",
    "apikey",
    "secret",
    "clientsecret",
    "secretkey",
    "secretdata",
  ].concat(
    [
      "authorization",
      "proxyauthorization",
      "cookie",
      "setcookie",
      "kubeconfig",
      "privatekey",
      "sshprivatekey",
      "keydata",
      "clientkeydata",
      "tlsclientcertkey",
      "encryptionkey",
      "datakey",
    ],
    ["plaintext", "credentials", "stringdata", "databaseurl", "execproviderconfig"],
  ),
);

/** Whether the value of a field of this name is never shown. Plural and prefixed forms of the plain words count too. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[-_.\s]/g, "");
  return SECRET_NAMES.has(plain) || /(password|token|secret|privatekey|apikey|passphrase)s?$/.test(plain);
}

/**
 * Secrets inside text: each pattern keeps what tells a reader which kind of thing was there. All are bounded: no nested
 * repetition, since the text may come from a stranger.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY)-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z0-9 ]{0,40}-----)?/g,
    `-----BEGIN $1----- ${REDACTED}`,
  ],
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#"'<>]*@/gi, `$1${REDACTED}@`],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  // JSON Web Tokens: three parts, the first of which begins with `{"` in base64.
  [/\beyJ[A-Za-z0-9_-]{6,2048}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?/g, REDACTED],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}|argosy_[A-Za-z0-9_-]{16,})/g, REDACTED],
  [
    /((?:password|passwd|passphrase|token|secret|api[-_]?key|client-key-data|authorization)\\?["']?\s*[:=]\s*\\?["']?)(?!\[redacted\])(?!(?:bearer|basic)\s)[^\s"',;&}\\]+/gi,
    `$1${REDACTED}`,
  ],
];

/** Replaces the secrets that can be recognised inside a text. */
export function redactText(text: string): string {
  let result = text;
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
  return result;
}

const MAX_DEPTH = 8;
const MAX_ENTRIES = 200;

/**
 * A copy of any value in which secret fields and secrets inside texts are replaced; never throws. Errors become plain objects
 * with name, message, stack, code, context and their causes; cycles, great depth and great lists are cut short, binary data
 * is only counted.
 */
export function redact(value: unknown): unknown {
  return copy(value, 0, new Set());
}

function copy(value: unknown, depth: number, above: Set<object>): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (value === null || typeof value !== "object") return value;
  if (above.has(value)) return "[circular]";
  if (depth >= MAX_DEPTH) return "[deep]";
  above.add(value);
  try {
    return copyObject(value, depth, above);
  } catch (cause) {
    // A getter or toJSON of a foreign object threw: a log line is not worth a failure.
    return `[unreadable: ${cause instanceof Error ? cause.name : typeof cause}]`;
  } finally {
    above.delete(value);
  }
}

function copyObject(value: object, depth: number, above: Set<object>): unknown {
  if (value instanceof Error) return copyError(value, depth, above);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "invalid date" : value.toISOString();
  if (value instanceof URL) return redactText(value.href);
  if (value instanceof Map)
    return copyFields(
      [...value].map(([key, entry]) => [String(key), entry]),
      depth,
      above,
    );
  if (Array.isArray(value) || value instanceof Set) {
    const entries = [...value];
    const kept = entries.slice(0, MAX_ENTRIES).map((entry) => copy(entry, depth + 1, above));
    return entries.length > MAX_ENTRIES ? [...kept, `[${entries.length - MAX_ENTRIES} more]`] : kept;
  }
  return copyFields(Object.entries(value), depth, above);
}

function copyFields(entries: readonly (readonly [string, unknown])[], depth: number, above: Set<object>): unknown {
  return Object.fromEntries(
    entries
      .slice(0, MAX_ENTRIES)
      .map(([name, entry]) => [name, isSecretName(name) && holdsSomething(entry) ? REDACTED : copy(entry, depth + 1, above)]),
  );
}

// `token: undefined` or `hasToken: true` says something useful and gives nothing away.
function holdsSomething(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "" && typeof value !== "boolean";
}

function copyError(error: Error, depth: number, above: Set<object>): unknown {
  const { name, message, stack, cause } = error;
  const own = Object.fromEntries(Object.entries(error).filter(([field]) => !["name", "message", "stack", "cause"].includes(field)));
  return {
    name,
    message: redactText(message),
    ...(copyFields(Object.entries(own), depth, above) as object),
    ...(stack === undefined ? {} : { stack: redactText(stack) }),
    ...(cause === undefined ? {} : { cause: copy(cause, depth + 1, above) }),
  };
}
