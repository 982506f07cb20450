import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIPv4 } from "node:net";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";

/** A certificate with its private key (PKCS #8), both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Whom a certificate names. Kubernetes reads a client's user from the common name and its groups from the organizations. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

export interface CertificateContent {
  readonly subject: Subject;
  /** Epoch ms. Certificates name whole seconds: what is over is cut off. */
  readonly from: number;
  readonly until: number;
  /** What the key may be used for: to sign other certificates, or to be one end of a TLS connection. */
  readonly purposes: readonly ("authority" | "server" | "client")[];
  /** Host names and IPv4 addresses under which a server is reached. */
  readonly names?: readonly string[];
}

const ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";
const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";

/**
 * Makes a key (ECDSA on P-256) and a certificate for it (RFC 5280, version 3), signed by `issuer`, or by itself when there is none.
 * Node.js reads certificates but writes none.
 */
export function issueCertificate(content: CertificateContent, issuer?: KeyPair): KeyPair {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subject = nameOf(content.subject);
  const signer = issuer === undefined ? own.privateKey : createPrivateKey(issuer.key);
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const body = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(),
    signature: algorithm,
    issuer: issuer === undefined ? subject : subjectOf(issuer.cert),
    validity: new Validity({ notBefore: new Date(content.from), notAfter: new Date(content.until) }),
    subject,
    subjectPublicKeyInfo: AsnConvert.parse(spkiOf(own.publicKey), SubjectPublicKeyInfo),
    extensions: new Extensions([...extensionsOf(content), ...keyIdsOf(own.publicKey, createPublicKey(signer))]),
  });
  const signature = sign("sha256", new Uint8Array(AsnConvert.serialize(body)), signer);
  const certificate = new Certificate({ tbsCertificate: body, signatureAlgorithm: algorithm, signatureValue: bufferOf(signature) });
  return {
    cert: new X509Certificate(new Uint8Array(AsnConvert.serialize(certificate))).toString(),
    key: own.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** 127 bits, the first of them one, so that no serial number is short, zero or negative. */
function serialNumber(): ArrayBuffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8(0x40 | (bytes.readUInt8(0) & 0x3f), 0);
  return bufferOf(bytes);
}

function nameOf({ commonName, organizations = [] }: Subject): Name {
  const part = (type: string, text: string) =>
    new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String: text }) })]);
  return new Name([...organizations.map((each) => part(ORGANIZATION, each)), part(COMMON_NAME, commonName)]);
}

function subjectOf(cert: string): Name {
  return AsnConvert.parse(new X509Certificate(cert).raw, Certificate).tbsCertificate.subject;
}

function extensionsOf({ purposes, names = [] }: CertificateContent): readonly Extension[] {
  const isAuthority = purposes.includes("authority");
  const ends = purposes.filter((each) => each !== "authority");
  const usage = (isAuthority ? KeyUsageFlags.keyCertSign : 0) | (ends.length > 0 ? KeyUsageFlags.digitalSignature : 0);
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: isAuthority }), { critical: true }),
    extension(id_ce_keyUsage, new KeyUsage(usage), { critical: true }),
  ];
  if (ends.length > 0) {
    const oids = ends.map((end) => (end === "server" ? id_kp_serverAuth : id_kp_clientAuth));
    extensions.push(extension(id_ce_extKeyUsage, new ExtendedKeyUsage(oids)));
  }
  if (names.length > 0) {
    const alternatives = names.map((name) => new GeneralName(isIPv4(name) ? { iPAddress: name } : { dNSName: name }));
    extensions.push(extension(id_ce_subjectAltName, new SubjectAlternativeName(alternatives)));
  }
  return extensions;
}

function keyIdsOf(subject: KeyObject, issuer: KeyObject): readonly Extension[] {
  return [
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId(subject))),
    extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(keyId(issuer)) })),
  ];
}

function extension(extnID: string, value: object, { critical = false } = {}): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

/** SHA-1 of the public key: a name to find it by, not a protection. */
function keyId(key: KeyObject): ArrayBuffer {
  return bufferOf(createHash("sha1").update(spkiOf(key)).digest());
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
