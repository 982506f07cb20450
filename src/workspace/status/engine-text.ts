import { inUsersWords, type ReportedDestination } from "./engine-sentences.ts";
import { withoutNames } from "./hidden-names.ts";
import { oneLine } from "./one-line.ts";

/** What must not show through in an engine's message, and what may. */
export interface TextScope {
  /** The Application's name and what its user calls it. */
  readonly argoName: string;
  readonly name: string;
  /** Names of instances and their namespaces, longest first. */
  readonly hidden: readonly string[];
  /** The user's own words: an address that stands in them gives away nothing. */
  readonly own: string;
  readonly destination: ReportedDestination;
}

const LONGEST = 1024;
/** More is not even read: what is replaced makes a text shorter by far less. */
const LONGEST_READ = 16 * LONGEST;
const SILENCE = "…";

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const account = /system:serviceaccount:argosy-[^\s"',;)]*/g;
const ownNamespace = /(?<![A-Za-z0-9-])argosy-(accounts|system)(?![A-Za-z0-9-])/g;
/** Projects, accounts and cluster entries are called by a digest. */
const digestName = /(?<![A-Za-z0-9])(?:argosy-)?(?:ws|we|u|read|cluster|env)-[0-9a-f]{20}(?![A-Za-z0-9])/g;
/** What is put behind the URL of an environment's cluster on its instance. */
const environmentQuery = /\?managedEnvironment=[\w-]+/g;
const address = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\d.])|\[[0-9a-f:]*:[0-9a-f:]*\](?::\d+)?/gi;
/** In what Argosy's own operations say of where an application runs. */
const engineCluster = /\bcluster [a-z0-9.-]+(?=, which )/g;
/** What stands before the host of a URL, and what an HTTP header gives as proof: tools quote both when they fail. */
const userInfo = /(?<=\b[a-z][a-z0-9+.-]{0,19}:\/\/)[^\s/@]{1,2048}@/gi;
const proof = /\b(bearer|basic) +[\w.~+/=-]{8,}/gi;

/**
 * An engine's message as its user may read it: without names of instances, accounts, projects and addresses, without
 * another tenant's application, without credentials, one line of at most 1,024 characters.
 */
export function plainText(message: string, scope: TextScope): string {
  const short = message.length <= LONGEST_READ ? message : `${message.slice(0, LONGEST_READ)}${SILENCE}`;
  const named = scope.argoName === "" ? short : short.replaceAll(scope.argoName, scope.name);
  const unshared = inUsersWords(named, scope.destination).replace(/ is part of applications? .*$/s, " is part of another application too");
  const plain = withoutNames(unshared, scope.hidden, SILENCE)
    .replace(engineCluster, `cluster ${SILENCE}`)
    .replace(environmentQuery, "")
    .replace(account, "the deploying account")
    .replace(ownNamespace, SILENCE)
    .replace(digestName, SILENCE)
    .replace(uuid, SILENCE)
    .replace(address, (found) => (scope.own.includes(found) ? found : SILENCE))
    .replace(userInfo, "")
    .replace(proof, `$1 ${SILENCE}`);
  return oneLine(plain, LONGEST);
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
