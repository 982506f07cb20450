import { issueCertificate, type KeyPair } from "../certificate.ts";

const DAY_MS = 86_400_000;

/** An authority that no machine trusts by itself. */
export function anAuthority(commonName = "a test's authority"): KeyPair {
  const from = Date.now() - DAY_MS;
  return issueCertificate({ subject: { commonName }, from, until: from + 10 * DAY_MS, purposes: ["authority"] });
}

/** A server's certificate, valid from an hour ago for a day unless `until` (epoch ms) says otherwise; signed by itself without an authority. */
export function aServerCertificate(names: readonly string[], authority?: KeyPair, until = Date.now() + DAY_MS): KeyPair {
  const content = { subject: { commonName: names[0] ?? "" }, from: Date.now() - 2 * DAY_MS, until, purposes: ["server"] as const, names };
  return issueCertificate(content, authority);
}
