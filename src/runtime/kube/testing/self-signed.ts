import { generateKeyPairSync, sign } from "node:crypto";

export interface SelfSigned {
  /** PEM */
  readonly cert: string;
  readonly key: string;
}

/**
 * A certificate for these DNS names and 127.0.0.1 that signs itself, valid from 2020 to 2049 (X.509 v3, RFC 5280; ECDSA on P-256 with
 * SHA-256). Node can read certificates but not write them.
 */
export function createSelfSigned(dnsNames: readonly string[]): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const name = sequence(der(0x31, sequence(objectId(0x55, 0x04, 0x03), der(0x0c, Buffer.from("test")))));
  const validity = sequence(der(0x17, Buffer.from("200101000000Z")), der(0x17, Buffer.from("491231235959Z")));
  const alternatives = sequence(...dnsNames.map((dns) => der(0x82, Buffer.from(dns))), der(0x87, Buffer.from([127, 0, 0, 1])));
  const isAuthority = sequence(objectId(0x55, 0x1d, 0x13), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
  const extensions = sequence(sequence(objectId(0x55, 0x1d, 0x11), der(0x04, alternatives)), isAuthority);
  const spki = publicKey.export({ type: "spki", format: "der" });
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const serial = der(0x02, Buffer.from([1]));
  const body = sequence(version, serial, algorithm, name, validity, name, spki, der(0xa3, extensions));
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)]));
  const cert = sequence(body, algorithm, signature).toString("base64").replace(/.{64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function objectId(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}
