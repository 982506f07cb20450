import { Buffer } from "node:buffer";
import { type Millis, millis } from "../../domain/clock.ts";

/** A JSON Web Token as it says of itself, which nobody has checked. */
export interface UncheckedToken {
  readonly token: string;
  readonly alg: string;
  readonly kid: string | undefined;
  readonly issuer: string;
  /** Absent: it does not say. */
  readonly expires?: Millis;
}

/** Node.js takes headers of 16 KiB altogether. */
const LONGEST = 12_288;
/** The year 9999, in seconds: what is later is no time that a date can have. */
const LATEST_S = 253_402_300_800;
/** Tokens of the table begin like this, and are never taken for anything else. */
const OWN_PREFIX = "argosy_";
const BEARER = /^Bearer ([A-Za-z0-9_-]{2,})\.([A-Za-z0-9_-]{2,})\.([A-Za-z0-9_-]*)$/;

/** The token of an `Authorization: Bearer …` header, where it is a JSON Web Token; `undefined`: it is none. */
export function readToken(authorization: string | undefined): UncheckedToken | undefined {
  if (authorization === undefined || authorization.length > LONGEST) return undefined;
  const [, head, body, signature] = BEARER.exec(authorization) ?? [];
  if (head === undefined || body === undefined || signature === undefined || head.startsWith(OWN_PREFIX)) return undefined;
  const header = parse(head);
  const claims = parse(body);
  if (header === undefined || claims === undefined) return undefined;
  const { alg, kid } = header;
  const { iss, exp } = claims;
  if (typeof alg !== "string" || (kid !== undefined && typeof kid !== "string")) return undefined;
  return {
    ...{ token: `${head}.${body}.${signature}`, alg, kid, issuer: typeof iss === "string" ? iss : "" },
    ...(typeof exp === "number" && Math.abs(exp) < LATEST_S ? { expires: millis(exp * 1000) } : {}),
  };
}

function parse(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** What may stand in the journal as a name: printable, and not endless. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u;
const MOST_GROUPS = 1000;

/** Name and groups among the claims; `undefined` where the name is missing or unfit. Groups that are no texts are left out. */
export function identityOf(
  claims: Readonly<Record<string, unknown>>,
  { nameClaim, groupsClaim }: { readonly nameClaim: string; readonly groupsClaim: readonly string[] },
): { readonly name: string; readonly groups: readonly string[] } | undefined {
  const name = own(claims, nameClaim);
  if (typeof name !== "string" || !NAME.test(name)) return undefined;
  const found = groupsClaim.reduce<unknown>((value, key) => own(value, key), claims);
  const groups = typeof found === "string" ? [found] : Array.isArray(found) ? found.slice(0, MOST_GROUPS) : [];
  return { name, groups: groups.filter((group): group is string => typeof group === "string") };
}

function own(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

/** What others may be shown of a text that came from outside. */
export function printable(text: string, most = 100): string {
  const clean = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "�");
  return clean.length > most ? `${clean.slice(0, most)}…` : clean;
}
