import type { PeerCertificate } from "node:tls";

/** What is wrong with the certificate that a server showed, where Node.js refused it. */
export interface TlsTrouble {
  /** `untrusted`: its signatures lead to nobody who is trusted. `other-name`: it is for other hosts. */
  readonly kind: "untrusted" | "other-name" | "expired" | "not-yet-valid" | "other";
  /** For sentences: the hosts that it is for; they are a stranger's text, made printable and cut off. */
  readonly names: string;
}

/** Codes of Node.js for a certificate that nobody who is trusted has signed. */
export const UNTRUSTED_CODES: ReadonlySet<string> = new Set([
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Characters of a certificate's names that are shown. */
const SHOWN_NAMES = 200;

/** What an error says about a server's certificate; `undefined` where it is about something else. */
export function tlsTroubleOf(error: unknown): TlsTrouble | undefined {
  const { code = "", cert } = (error ?? {}) as { readonly code?: unknown; readonly cert?: PeerCertificate };
  const kind = typeof code === "string" ? kindOf(code) : undefined;
  return kind === undefined ? undefined : { kind, names: namesOf(cert) };
}

function kindOf(code: string): TlsTrouble["kind"] | undefined {
  if (UNTRUSTED_CODES.has(code)) return "untrusted";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "other-name";
  if (code === "CERT_HAS_EXPIRED") return "expired";
  if (code === "CERT_NOT_YET_VALID") return "not-yet-valid";
  // The codes of OpenSSL's verification that are left: revoked, of a wrong purpose, too long a chain, a weak signature …
  return /^(CERT_|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$|HOSTNAME_MISMATCH$)/.test(code) ? "other" : undefined;
}

function namesOf(cert: PeerCertificate | undefined): string {
  const names = (cert?.subjectaltname ?? "").replace(/(DNS|IP Address):/g, "").replace(/[^ -~]/g, "?");
  if (names === "") return "no host name";
  return names.length > SHOWN_NAMES ? `${names.slice(0, SHOWN_NAMES)}…` : names;
}
