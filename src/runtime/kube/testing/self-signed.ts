import { issueCertificate, type KeyPair } from "../../certificate.ts";

/** A certificate for these DNS names and 127.0.0.1 that signs itself, valid from 2020 to 2049. */
export function createSelfSigned(dnsNames: readonly string[]): KeyPair {
  return issueCertificate({
    subject: { commonName: "test" },
    from: Date.UTC(2020, 0, 1),
    until: Date.UTC(2049, 11, 31, 23, 59, 59),
    purposes: ["authority", "server"],
    names: [...dnsNames, "127.0.0.1"],
  });
}
