import { generateKeyPairSync } from "node:crypto";
import { type CertificateContent, issueCertificate, type KeyPair, type Subject } from "../../src/runtime/certificate.ts";

const validForMs = 10 * 365 * 24 * 3_600_000;

/** A self-signed certificate authority, valid for ten years. */
export function createAuthority(subject: Subject): KeyPair {
  return issueCertificate({ subject, purposes: ["authority"], ...validity() });
}

/** A certificate for a server reached under `names`: host names and IPv4 addresses. */
export function issueServer(authority: KeyPair, server: { readonly subject: Subject; readonly names: readonly string[] }): KeyPair {
  return issueCertificate({ ...server, purposes: ["server", "client"], ...validity() }, authority);
}

/** A certificate that names a client. */
export function issueClient(authority: KeyPair, subject: Subject): KeyPair {
  return issueCertificate({ subject, purposes: ["client"], ...validity() }, authority);
}

/** A key for signing tokens: private and public PEM. */
export function createSigningKey(): { readonly key: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

/** Valid from an hour before now, for clocks that differ a little. */
function validity(): Pick<CertificateContent, "from" | "until"> {
  const now = Date.now();
  return { from: now - 3_600_000, until: now + validForMs };
}
