import { randomBytes } from "node:crypto";
import { issueCertificate } from "../../../runtime/certificate.ts";
import type { SecretMaker } from "../../port.ts";

/** Makes secrets from the machine's random source. */
export function createSecretMaker(): SecretMaker {
  return {
    // Hexadecimal, because the text is also an argument of redis's command line, where spaces and quotes would need escaping.
    randomText: () => randomBytes(32).toString("hex"),
    authority(validity) {
      const { cert, key } = issueCertificate({ subject: { commonName: "argosy instance" }, purposes: ["authority"], ...validity });
      return { certificate: cert, key };
    },
    certificates(authority, names, validity) {
      const issuer = { cert: authority.certificate, key: authority.key };
      const subject = { commonName: names[0] ?? "server" };
      const server = issueCertificate({ subject, purposes: ["server"], names, ...validity }, issuer);
      const controller = { commonName: "argocd-application-controller" };
      const client = issueCertificate({ subject: controller, purposes: ["client"], ...validity }, issuer);
      return {
        server: { certificate: server.cert, key: server.key },
        client: { certificate: client.cert, key: client.key },
      };
    },
  };
}
