import type { Millis } from "../domain/clock.ts";
import { millis } from "../domain/clock.ts";
import type { EngineCertificates } from "../domain/engine.ts";
import { sha256 } from "../domain/hash.ts";
import type { CredentialId, InstanceId } from "../domain/ids.ts";

export const SECRET_PURPOSES = ["argo-cd-server-key", "argo-cd-redis-password", "argo-cd-certificates"] as const;
export type SecretPurpose = (typeof SECRET_PURPOSES)[number];

/**
 * The key under which a secret of an instance is stored. Its id follows from the instance and the purpose, in the
 * shape of a UUID of version 8, so that a second creation of the instance finds the secrets of the first.
 */
export function secretKeyOf(
  instanceId: InstanceId,
  purpose: SecretPurpose,
): { readonly id: CredentialId; readonly owner: string; readonly purpose: string } {
  const hex = sha256(`${instanceId}|${purpose}`);
  const id = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
  return { id: id as CredentialId, owner: instanceId, purpose };
}

const DAY_MS = 86_400_000;
/** Certificates are valid from an hour before now, for clocks that differ a little. */
const CLOCK_SKEW_MS = 3_600_000;
/**
 * How long certificates are valid, in ms. New ones restart the instance's pods, so they last for years. That is safe:
 * nobody outside the instance can use them.
 */
const LIFE_MS = 5 * 365 * DAY_MS;
/**
 * How long before they expire certificates are renewed, in ms: an instance that could not be reached for months is
 * still in time.
 */
const RENEW_BEFORE_MS = 365 * DAY_MS;

export function validityAt(now: Millis): { readonly from: Millis; readonly until: Millis } {
  return { from: millis(now - CLOCK_SKEW_MS), until: millis(now + LIFE_MS) };
}

/** Whether stored certificates may be used further: they exist and do not expire soon. */
export function isValidFor(certificates: EngineCertificates | undefined, now: Millis): certificates is EngineCertificates {
  return certificates !== undefined && certificates.notAfter - now >= RENEW_BEFORE_MS;
}

/** Parses stored certificates. `undefined`: the text is something else. */
export function parseCertificates(text: string | undefined): EngineCertificates | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  return isRecord(value) &&
    typeof value["authority"] === "string" &&
    typeof value["notAfter"] === "number" &&
    isPair(value["server"]) &&
    isPair(value["client"])
    ? { authority: value["authority"], server: value["server"], client: value["client"], notAfter: value["notAfter"] }
    : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isPair(value: unknown): value is EngineCertificates["server"] {
  return isRecord(value) && typeof value["certificate"] === "string" && typeof value["key"] === "string";
}
