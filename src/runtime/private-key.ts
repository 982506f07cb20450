import { createPrivateKey } from "node:crypto";

/** Longest PEM that is parsed at all, in characters: RSA of 8192 bits has about 6,400. */
const LONGEST_PEM = 16 * 1024;
const RSA_BITS = { least: 2048, most: 8192 } as const;
const CURVES: ReadonlySet<string> = new Set(["prime256v1", "secp384r1", "secp521r1"]);

/**
 * Why a private key in PEM, of a stranger, is not used; `undefined` if it is. What a key costs grows with the cube of its size,
 * and with parameters of one's own without bound: taken are RSA from 2048 to 8192 bits, the NIST curves by name, Ed25519 and Ed448.
 */
export function whyNotPrivateKey(pem: string): string | undefined {
  if (pem.length > LONGEST_PEM) return `the private key is longer than ${LONGEST_PEM / 1024} KiB`;
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: { modulusLength = 0, namedCurve = "" } = {} } = createPrivateKey(pem);
    if (type === "ed25519" || type === "ed448") return undefined;
    if (type === "ec" && CURVES.has(namedCurve)) return undefined;
    if (type === "rsa" && modulusLength >= RSA_BITS.least && modulusLength <= RSA_BITS.most) return undefined;
    return "the private key must be RSA with 2048 to 8192 bits, or of curve P-256, P-384, P-521, Ed25519 or Ed448";
  } catch {
    // The library's message may quote.
    return "the private key is no PEM, or protected by a passphrase";
  }
}
