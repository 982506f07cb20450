import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from "jose";
import type { KeySet, NotAccepted } from "../../port.ts";

/** What a token of an issuer has to be. */
export interface TokenRules {
  readonly issuer: string;
  /** It has to name one of them. */
  readonly audiences: readonly string[];
  /** Asymmetric ones alone: with a symmetric one the public key would be the secret. */
  readonly algorithms: readonly string[];
  /** How far the issuer's clock may be off, in ms. */
  readonly clockSkewMs: number;
}

const KEY_TYPES = ["RSA", "EC", "OKP"];

/** The keys of a published set that sign tokens. `undefined`: it is no such set, or has none. */
export function createKeySet(published: unknown, rules: TokenRules): KeySet | undefined {
  const all = (published as { readonly keys?: unknown } | null)?.keys;
  if (!Array.isArray(all)) return undefined;
  const keys = all.filter(isSigning);
  if (keys.length === 0) return undefined;
  const ids = new Set(keys.map(({ kid }) => kid));
  const find = createLocalJWKSet({ keys } as JSONWebKeySet);
  return {
    knows: ({ alg, kid }) => rules.algorithms.includes(alg) && (kid === undefined || ids.has(kid)),
    async check(token, now) {
      try {
        const { payload } = await jwtVerify(token, find, {
          issuer: rules.issuer,
          audience: [...rules.audiences],
          algorithms: [...rules.algorithms],
          requiredClaims: ["exp"],
          clockTolerance: rules.clockSkewMs / 1000,
          currentDate: new Date(now),
        });
        return { claims: payload };
      } catch (error) {
        return refusal(error, rules);
      }
    },
  };
}

function isSigning(key: unknown): key is { readonly kid?: unknown } {
  if (typeof key !== "object" || key === null) return false;
  const { kty, use } = key as { readonly kty?: unknown; readonly use?: unknown };
  return KEY_TYPES.includes(kty as string) && (use === undefined || use === "sig");
}

/** What is wrong with the claims is found after the signature was: only who has been given the token hears of it. */
function refusal(error: unknown, { audiences, clockSkewMs }: TokenRules): NotAccepted {
  if (error instanceof errors.JWTExpired) return { refused: `it has expired; clocks may differ by ${clockSkewMs} ms`, isProven: true };
  if (error instanceof errors.JWTClaimValidationFailed) return { refused: claimText(error.claim, audiences), isProven: true };
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return { refused: "it does not say by which key it is signed (kid)", isProven: false };
  return { refused: "its signature is not one of the issuer's", isProven: false };
}

function claimText(claim: string, audiences: readonly string[]): string {
  switch (claim) {
    case "aud":
      return `it is not for ${audiences.join(" or ")} (aud)`;
    case "nbf":
      return "it is not valid yet (nbf)";
    case "exp":
      return "it does not say when it expires (exp)";
    default:
      return `its claim ${claim} is not what it must be`;
  }
}
