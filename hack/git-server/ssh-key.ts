import { generateKeyPairSync } from "node:crypto";

/** A key to log in with, in the formats of ssh(1). */
export interface SshKey {
  /** PEM, as `sshPrivateKey` of an Argo CD repository has it. */
  readonly privateKey: string;
  /** One line of an authorized_keys file. */
  readonly authorizedKey: string;
}

const algorithm = "ecdsa-sha2-nistp256";

export function createSshKey(): SshKey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
  // RFC 5656 §3.1: name, curve, point.
  const blob = Buffer.concat([Buffer.from(algorithm), Buffer.from("nistp256"), point].flatMap((part) => [lengthOf(part), part]));
  return {
    privateKey: privateKey.export({ type: "sec1", format: "pem" }).toString(),
    authorizedKey: `${algorithm} ${blob.toString("base64")}`,
  };
}

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(part.length);
  return length;
}
