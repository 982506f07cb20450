import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { whyNotPrivateKey } from "./private-key.ts";

const PKCS8 = { type: "pkcs8", format: "pem" } as const;
const pem = (key: { export(options: typeof PKCS8): string | Buffer }): string => String(key.export(PKCS8));
const rsa = (modulusLength: number): string => pem(generateKeyPairSync("rsa", { modulusLength }).privateKey);
const ec = (namedCurve: string): string => pem(generateKeyPairSync("ec", { namedCurve }).privateKey);

describe("a stranger's private key", () => {
  it.each([
    ["RSA of 2048 bits", rsa(2048)],
    ["P-256", ec("prime256v1")],
    ["P-521", ec("secp521r1")],
    ["Ed25519", pem(generateKeyPairSync("ed25519").privateKey)],
  ])("is used: %s", (_what, key) => {
    expect(whyNotPrivateKey(key)).toBeUndefined();
  });

  it.each([
    ["RSA of 1024 bits", rsa(1024)],
    ["a curve nobody uses here", ec("secp256k1")],
    ["no key for signing", pem(generateKeyPairSync("x25519").privateKey)],
    ["no PEM", "secret"],
    [
      "one with a passphrase",
      String(generateKeyPairSync("ed25519").privateKey.export({ ...PKCS8, cipher: "aes-256-cbc", passphrase: "p" })),
    ],
    ["longer than any, whatever it is", `-----BEGIN PRIVATE KEY-----\n${"A".repeat(20_000)}\n-----END PRIVATE KEY-----\n`],
  ])("is refused: %s", (_what, key) => {
    expect(whyNotPrivateKey(key)).toContain("private key");
    expect(whyNotPrivateKey(key)).not.toContain("secret");
  });
});
