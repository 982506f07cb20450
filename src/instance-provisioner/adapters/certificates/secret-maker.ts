import { randomBytes } from "node:crypto";
import { issueCertificate } from "../../../runtime/certificate.ts";
import type { SecretMaker } from "../../port.ts";

/** Makes secrets from the machine's random source. The private key of an authority exists only while it signs. */
export function createSecretMaker(): SecretMaker {
  return {
    // Hexadecimal, because the text is also an argument of redis's command line, where spaces and quotes would need escaping.
    randomText: () => randomBytes(32).toString("hex"),
    certificates(names, validity) {
      const authority = issueCertificate({ subject: { commonName: "argosy instance" }, purposes: ["authority"], ...validity });
      const subject = { commonName: names[0] ?? "server" };
      const server = issueCertificate({ subject, purposes: ["server"], names, ...validity }, authority);
      const controller = { commonName: "argocd-application-controller" };
      const client = issueCertificate({ subject: controller, purposes: ["client"], ...validity }, authority);
      return {
        authority: authority.cert,
        server: { certificate: server.cert, key: server.key },
        client: { certificate: client.cert, key: client.key },
        // Certificates hold whole seconds.
        notAfter: Math.floor(validity.until / 1000) * 1000,
      };
    },
  };
}
