/** What must not show through in an engine's message, and what may. */
export interface TextScope {
  /** The Application's name and what its user calls it. */
  readonly argoName: string;
  readonly name: string;
  /** Names of instances and their namespaces, longest first. */
  readonly hidden: readonly string[];
  /** The user's own words: an address that stands in them is no news. */
  readonly own: string;
}

const LONGEST = 1024;
const SILENCE = "…";

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const account = /system:serviceaccount:argosy-[^\s"',;)]*/g;
const ownNamespace = /(?<![A-Za-z0-9-])argosy-(accounts|system)(?![A-Za-z0-9-])/g;
/** Projects, accounts and cluster entries are called by a digest. */
const digestName = /(?<![A-Za-z0-9])(?:argosy-)?(?:ws|u|read|cluster)-[0-9a-f]{20}(?![A-Za-z0-9])/g;
const address = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\d.])|\[[0-9a-f:]*:[0-9a-f:]*\](?::\d+)?/gi;
const transport = /\brpc error: code = \w+ desc = /g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\u0000-\u001f\u007f]+/g;

/**
 * An engine's message as its user may read it: without names of instances, accounts, projects and addresses, without
 * another tenant's application, at most 1,024 characters.
 */
export function plainText(message: string, scope: TextScope): string {
  const named = scope.argoName === "" ? message : message.replaceAll(scope.argoName, scope.name);
  const unshared = named.replace(/ is part of applications? .*$/s, " is part of another application too");
  const plain = scope.hidden
    .reduce((text, name) => text.replace(wordOf(name), SILENCE), unshared)
    .replace(transport, "")
    .replace(account, "the deploying account")
    .replace(ownNamespace, SILENCE)
    .replace(digestName, SILENCE)
    .replace(uuid, SILENCE)
    .replace(address, (found) => (scope.own.includes(found) ? found : SILENCE))
    .replace(control, " ")
    .trim();
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST - 1)}${SILENCE}`;
}

/** The same for every `message` inside a JSON value. */
export function plainMessages(value: unknown, scope: TextScope): unknown {
  if (Array.isArray(value)) return value.map((entry) => plainMessages(entry, scope));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      key,
      key === "message" && typeof entry === "string" ? plainText(entry, scope) : plainMessages(entry, scope),
    ]),
  );
}

function wordOf(name: string): RegExp {
  return new RegExp(`(?<![A-Za-z0-9])${name.replace(/[^A-Za-z0-9]/g, "\\$&")}(?![A-Za-z0-9])`, "g");
}
