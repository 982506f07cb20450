import { createHash, type KeyObject, randomBytes, sign } from "node:crypto";
import { bits, integer, objectId, octets, sequence, setOf, tagged, text, time, yes } from "./der.ts";

/** What one certificate says. */
export interface CertificateContent {
  readonly subject: string;
  readonly issuer: string;
  readonly key: KeyObject;
  readonly issuerKey: KeyObject;
  readonly from: number;
  readonly until: number;
  readonly use:
    | { readonly kind: "authority" }
    | { readonly kind: "server"; readonly names: readonly string[] }
    | { readonly kind: "client" };
}

const OID = {
  commonName: "2.5.4.3",
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  alternativeNames: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyId: "2.5.29.35",
  extendedUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
};

/** Writes and signs a certificate (RFC 5280 §4.1, version 3, ECDSA with SHA-256); PEM. `signer` is the issuer's private key. */
export function writeCertificate(content: CertificateContent, signer: KeyObject): string {
  const algorithm = sequence(objectId(OID.ecdsaWithSha256));
  const body = sequence(
    tagged(0, integer(Buffer.from([2])), "constructed"),
    // 127 bits, the first of them one, so that no serial number is short or zero.
    integer(Buffer.concat([Buffer.from([0x40 | (randomBytes(1).readUInt8() & 0x3f)]), randomBytes(15)])),
    algorithm,
    nameOf(content.issuer),
    sequence(time(content.from), time(content.until)),
    nameOf(content.subject),
    content.key.export({ type: "spki", format: "der" }),
    tagged(3, sequence(...extensionsOf(content)), "constructed"),
  );
  return pem(sequence(body, algorithm, bits(sign("sha256", body, signer))));
}

function nameOf(commonName: string): Buffer {
  return sequence(setOf(sequence(objectId(OID.commonName), text(commonName))));
}

function extensionsOf({ use, key, issuerKey }: CertificateContent): readonly Buffer[] {
  const identity = [
    extension(OID.subjectKeyId, octets(keyId(key))),
    extension(OID.authorityKeyId, sequence(tagged(0, keyId(issuerKey), "primitive"))),
  ];
  // Bits of keyUsage from the left (§4.2.1.3): 0 digitalSignature, 5 keyCertSign.
  if (use.kind === "authority")
    return [critical(OID.basicConstraints, sequence(yes())), critical(OID.keyUsage, bits(Buffer.from([0b0000_0100]), 2)), ...identity];
  const purpose = objectId(use.kind === "server" ? OID.serverAuth : OID.clientAuth);
  const leaf = [
    critical(OID.basicConstraints, sequence()),
    critical(OID.keyUsage, bits(Buffer.from([0b1000_0000]), 7)),
    extension(OID.extendedUsage, sequence(purpose)),
  ];
  const names =
    use.kind === "server"
      ? [extension(OID.alternativeNames, sequence(...use.names.map((name) => tagged(2, Buffer.from(name, "ascii"), "primitive"))))]
      : [];
  return [...leaf, ...names, ...identity];
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), octets(value));
}

function critical(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), yes(), octets(value));
}

/** SHA-1 of the public key (§4.2.1.2): a name to find it by, not a protection. */
function keyId(key: KeyObject): Buffer {
  return createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();
}

function pem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
