import { UnavailableError } from "../../../../domain/errors.ts";
import { canonicalJson, sha256 } from "../../../../domain/hash.ts";
import { isLoopback } from "../../../../runtime/is-loopback.ts";
import { readJson } from "../../../../runtime/read-json.ts";
import type { IssuerDocuments, KeySet } from "../../port.ts";
import { createKeySet, type TokenRules } from "./key-set.ts";

/** Of either document, in bytes: the largest that are known have some ten thousand. */
const LONGEST_DOCUMENT = 262_144;

export interface IssuerAddress extends TokenRules {
  /** Certificates in PEM of the only authorities its server is trusted by; absent: the public ones. */
  readonly certificateAuthority?: string | undefined;
}

/** The documents of OpenID Connect Discovery 1.0: the configuration at the issuer's address, and the keys that it names. */
export function createIssuerDocuments(address: IssuerAddress): IssuerDocuments {
  const { issuer, certificateAuthority } = address;
  const authorities = certificateAuthority === undefined ? {} : { authorities: certificateAuthority };
  let last: { readonly hash: string; readonly keys: KeySet } | undefined;
  return {
    async read(signal) {
      try {
        const options = { ...authorities, longest: LONGEST_DOCUMENT, signal };
        const configuration = await readJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, options);
        const published = await readJson(keysAddress(configuration, issuer), options);
        const hash = sha256(canonicalJson(published));
        if (last?.hash === hash) return last.keys;
        const keys = createKeySet(published, address);
        if (keys === undefined) throw new Error("its key set has no public key that signs");
        last = { hash, keys };
        return keys;
      } catch (cause) {
        throw new UnavailableError(`reading the keys of ${issuer}`, { code: "api.issuer", cause, context: { issuer } });
      }
    },
  };
}

/** Where the keys are. Whoever could put another address there, or read along, could sign whatever he likes. */
function keysAddress(configuration: unknown, issuer: string): string {
  const { issuer: named, jwks_uri: uri } = (configuration ?? {}) as { readonly issuer?: unknown; readonly jwks_uri?: unknown };
  if (named !== issuer) throw new Error("its configuration is one of another issuer");
  const url = typeof uri === "string" ? URL.parse(uri) : null;
  if (url === null || !(url.protocol === "https:" || (staysHere(issuer) && staysHere(url.href))))
    throw new Error("its configuration names no https:// address of its keys (jwks_uri)");
  return url.href;
}

/** An address of plain HTTP that does not leave the machine. */
function staysHere(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "http:" && isLoopback(url.hostname);
}
