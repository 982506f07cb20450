import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";
import { bits, boolean, context, integer, objectId, octets, sequence, setOf, time, utf8 } from "./der.ts";

/** A certificate with its key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Whom a certificate names. Kubernetes reads a client's user from the common name and its groups from the organizations. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

interface Certificate {
  readonly subject: Subject;
  readonly issuer: Subject;
  readonly publicKey: KeyObject;
  readonly issuerPublicKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

const validForMs = 10 * 365 * 24 * 3_600_000;
const ecdsaWithSha256 = sequence(objectId("1.2.840.10045.4.3.2"));
const oid = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyId: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
};
const usage = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" };

/** A certificate authority of its own, ECDSA P-256, valid for ten years. */
export function createAuthority(subject: Subject): KeyPair {
  const keys = newKeys();
  const extensions = [extension(oid.basicConstraints, sequence(boolean(true)), true), keyUsage(0b0000_0110)];
  const certificate = { subject, issuer: subject, publicKey: keys.publicKey, issuerPublicKey: keys.publicKey, extensions };
  return { cert: signed(certificate, keys.privateKey), key: pemKey(keys.privateKey) };
}

/** A certificate for a server reached under `names`: host names and IPv4 addresses. */
export function issueServer(
  authority: KeyPair & { readonly subject: Subject },
  server: { readonly subject: Subject; readonly names: readonly string[] },
): KeyPair {
  return issue(authority, server.subject, [sequence(objectId(usage.server), objectId(usage.client)), alternativeNames(server.names)]);
}

/** A certificate that names a client. */
export function issueClient(authority: KeyPair & { readonly subject: Subject }, subject: Subject): KeyPair {
  return issue(authority, subject, [sequence(objectId(usage.client)), undefined]);
}

/** A key for signing tokens: private and public PEM. */
export function createSigningKey(): { readonly key: string; readonly publicKey: string } {
  const keys = newKeys();
  return { key: pemKey(keys.privateKey), publicKey: keys.publicKey.export({ type: "spki", format: "pem" }).toString() };
}

function issue(
  authority: KeyPair & { readonly subject: Subject },
  subject: Subject,
  [usages, names]: readonly [Buffer, Buffer | undefined],
): KeyPair {
  const keys = newKeys();
  const signer = createPrivateKey(authority.key);
  const extensions = [
    extension(oid.basicConstraints, sequence(), true),
    keyUsage(0b1000_0000),
    extension(oid.extendedKeyUsage, usages),
    ...(names === undefined ? [] : [extension(oid.subjectAltName, names)]),
  ];
  const certificate = {
    subject,
    issuer: authority.subject,
    publicKey: keys.publicKey,
    issuerPublicKey: createPublicKey(signer),
    extensions,
  };
  return { cert: signed(certificate, signer), key: pemKey(keys.privateKey) };
}

/** RFC 5280 §4.1: version 3, the parts in this order, signed by the issuer. */
function signed(certificate: Certificate, signer: KeyObject): string {
  const now = Date.now();
  const extensions = [
    ...certificate.extensions,
    extension(oid.subjectKeyId, octets(keyId(certificate.publicKey))),
    extension(oid.authorityKeyId, sequence(context(0, keyId(certificate.issuerPublicKey), { constructed: false }))),
  ];
  const body = sequence(
    context(0, integer(Buffer.from([2])), { constructed: true }),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    name(certificate.issuer),
    // An hour back, for clocks that are not quite equal.
    sequence(time(new Date(now - 3_600_000)), time(new Date(now + validForMs))),
    name(certificate.subject),
    certificate.publicKey.export({ type: "spki", format: "der" }),
    context(3, sequence(...extensions), { constructed: true }),
  );
  return pem("CERTIFICATE", sequence(body, ecdsaWithSha256, bits(sign("sha256", body, signer))));
}

function name(subject: Subject): Buffer {
  const part = (id: string, value: string) => setOf(sequence(objectId(id), utf8(value)));
  return sequence(
    ...(subject.organizations ?? []).map((organization) => part(oid.organization, organization)),
    part(oid.commonName, subject.commonName),
  );
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return sequence(objectId(id), ...(isCritical ? [boolean(true)] : []), octets(value));
}

/** Bit 0 (the highest) is digitalSignature, 5 keyCertSign, 6 cRLSign (RFC 5280 §4.2.1.3). */
function keyUsage(mask: number): Buffer {
  let unused = 0;
  while (((mask >> unused) & 1) === 0) unused++;
  return extension(oid.keyUsage, bits(Buffer.from([mask]), unused), true);
}

function alternativeNames(names: readonly string[]): Buffer {
  return sequence(
    ...names.map((at) =>
      isIPv4(at)
        ? context(7, Buffer.from(at.split(".").map(Number)), { constructed: false })
        : context(2, Buffer.from(at, "latin1"), { constructed: false }),
    ),
  );
}

function keyId(key: KeyObject): Buffer {
  return createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function pemKey(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
