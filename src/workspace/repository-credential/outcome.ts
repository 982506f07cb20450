/**
 * What probing a repository with a credential has shown.
 * `readable`: it was read. `denied`: the login was refused. `not-found`, `moved`: there is none at this address, as far as this
 * credential may know. `not-allowed`: the address leads inside. These say something about the credential or its URL.
 * `unknown-identity`: the host could not show to be itself. `unreachable`: nobody answered as a Git host does. `failed`: the
 * probe itself went wrong. These do not.
 */
export const OUTCOMES = ["readable", "denied", "not-found", "moved", "not-allowed", "unknown-identity", "unreachable", "failed"] as const;
export type CredentialOutcome = (typeof OUTCOMES)[number];

/** Whether an outcome takes a credential that worked before out of use: only one that is about the credential does. */
export function isRevoking(outcome: CredentialOutcome): boolean {
  return outcome === "denied" || outcome === "not-found" || outcome === "moved" || outcome === "not-allowed";
}

/**
 * How long until the next probe, in ms, after `misses` probes in a row that showed nothing about the credential. `periodMs`: the time between
 * two probes that show something.
 */
export function nextObservationAfterMs(misses: number, periodMs: number = OBSERVE_AGAIN_MS): number {
  return misses === 0 ? periodMs : Math.min(periodMs, FIRST_RETRY_MS * 2 ** Math.min(misses - 1, 10));
}

/** As the service before: everything is probed again every ten minutes, where there is not too much of it. */
export const OBSERVE_AGAIN_MS = 10 * 60_000;
const FIRST_RETRY_MS = 15_000;

interface Ended {
  /** Absent when it was ended by a signal. */
  readonly exitCode: number | undefined;
  /** What git said, in the C locale; as much as is kept of it. */
  readonly stderr: string;
  readonly url: string;
}

const SIGNS: readonly (readonly [Exclude<CredentialOutcome, "readable" | "not-allowed" | "failed">, RegExp])[] = [
  [
    "unknown-identity",
    /SSL certificate problem|certificate verif|server certificate|host key verification failed|no matching host key|SSL: no alternative certificate/i,
  ],
  [
    "denied",
    /authentication failed|could not read (username|password)|permission denied|returned error: 40[13]\b|access denied|invalid (username|credentials)|too many authentication failures/i,
  ],
  ["moved", /returned error: 30[12378]\b|redirect/i],
  [
    "not-found",
    /returned error: 4(04|10)\b|repository ('' )?not found|not found$|does not appear to be a git repository|does not exist|no such repository/im,
  ],
  [
    "unreachable",
    /could not resolve|failed to connect|couldn't connect|could not connect|connection (refused|reset|timed out|closed)|timed out|network is unreachable|no route to host|returned error: (429|5\d\d)\b|empty reply|unexpected disconnect|early EOF|kex_exchange|SSL_ERROR|gnutls_handshake|TLS connect|OpenSSL/i,
  ],
];

/**
 * Reads how `git ls-remote` ended. What the other side says itself (`remote:`) and the URL are no evidence. Anything that is not
 * understood is `failed`, never `denied`: a credential is not taken out of use for a reason nobody knows.
 */
export function readEnd({ exitCode, stderr, url }: Ended): CredentialOutcome {
  if (exitCode === 0) return "readable";
  if (exitCode === undefined) return "failed";
  const said = stderr
    .replaceAll(url, "")
    .split("\n")
    .filter((line) => !line.startsWith("remote:"))
    .join("\n");
  return SIGNS.find(([, sign]) => sign.test(said))?.[0] ?? "failed";
}
