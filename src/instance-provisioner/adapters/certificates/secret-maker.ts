import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import type { SecretMaker } from "../../port.ts";
import { type CertificateContent, writeCertificate } from "./certificate.ts";

/** Makes secrets from the machine's randomness. An authority's private key lives only as long as it takes to sign. */
export function createSecretMaker(): SecretMaker {
  return {
    // Hexadecimal: it also passes through redis's command line, where spaces and quotes mean something.
    randomText: () => randomBytes(32).toString("hex"),
    certificates(serverNames, { from, until }) {
      const [authority, server, client] = [newKeys(), newKeys(), newKeys()];
      const name = "argosy instance";
      const issue = (subject: string, key: KeyObject, use: CertificateContent["use"]) =>
        writeCertificate({ subject, issuer: name, key, issuerKey: authority.publicKey, from, until, use }, authority.privateKey);
      return {
        authority: issue(name, authority.publicKey, { kind: "authority" }),
        server: {
          certificate: issue(serverNames[0] ?? "server", server.publicKey, { kind: "server", names: serverNames }),
          key: pemOf(server.privateKey),
        },
        client: {
          certificate: issue("argocd-application-controller", client.publicKey, { kind: "client" }),
          key: pemOf(client.privateKey),
        },
        // Certificates name whole seconds.
        notAfter: Math.floor(until / 1000) * 1000,
      };
    },
  };
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
