import type { Millis } from "../domain/clock.ts";
import { millis } from "../domain/clock.ts";
import type { CertificateAuthority, CertificatePair, CertificatePairs, EngineCertificates } from "../domain/engine.ts";
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
/** How long certificates are valid, in ms. */
const LIFE_MS = 180 * DAY_MS;
/** The same of an authority: it is made when the certificates before its own are, and signs only when those are renewed. */
const AUTHORITY_LIFE_MS = 2 * LIFE_MS;
/** How old certificates are when they are renewed, in ms; from then on at the first day of the instance, see `isItsDay`. */
const RENEW_AFTER_MS = 60 * DAY_MS;
/** New certificates restart an instance's pods: each instance has a day of its own in every so many, so that a fleet does not restart at once. */
const CYCLE_DAYS = 30;
/** With less than this left certificates are renewed on any day, in ms: an instance that could not be reached for months is still in time. */
const SHORT_MS = 60 * DAY_MS;
/** How long an authority is trusted by both sides before it signs, in ms: the pods have been replaced by then. */
const ANNOUNCED_MS = DAY_MS;
/** With less than this left there is no time to announce an authority, in ms: the two sides do not understand each other while pods are replaced. */
const LAST_MS = 7 * DAY_MS;

/** Certificates of an instance as they are stored. */
export interface StoredCertificates extends CertificatePairs {
  /** Certificate of the authority that signed them, PEM. Its key is forgotten. */
  readonly authority: string;
  readonly notAfter: Millis;
  /** Absent: they are of a version that made them for five years. */
  readonly madeAt?: Millis;
  /** Certificate of the authority before that one, PEM: a side whose pod is still to be replaced has certificates of it. */
  readonly previous?: string;
  /** The authority of the next certificates, which both sides trust already. Absent: none was announced. */
  readonly next?: CertificateAuthority;
}

export type CertificateStep =
  | { readonly kind: "keep" }
  /** Make the next authority, and let both sides trust it; the certificates stay. */
  | { readonly kind: "announce" }
  /** Make certificates signed by this authority, which both sides trust, and announce another one. */
  | { readonly kind: "renew"; readonly authority: CertificateAuthority }
  /** Make all anew: they end so soon that the two sides have to do without each other for a moment. */
  | { readonly kind: "anew" };

/**
 * Decides what an instance's certificates need now. They are renewed every two to three months, by an authority that both sides trust since the
 * certificates before were made: while pods are replaced, each side understands old and new ones of the other.
 */
export function nextCertificateStep(stored: StoredCertificates, id: InstanceId, now: Millis): CertificateStep {
  const left = stored.notAfter - now;
  const isOld = stored.madeAt === undefined || now - stored.madeAt >= RENEW_AFTER_MS;
  if (left >= SHORT_MS && !(isOld && isItsDay(id, now))) return { kind: "keep" };
  const { next } = stored;
  if (next === undefined || next.notAfter - now < LIFE_MS) return left < LAST_MS ? { kind: "anew" } : { kind: "announce" };
  return now - next.madeAt < ANNOUNCED_MS ? { kind: "keep" } : { kind: "renew", authority: next };
}

/** One day in thirty, another one for each instance. */
function isItsDay(id: InstanceId, now: Millis): boolean {
  return Math.floor(now / DAY_MS) % CYCLE_DAYS === Number.parseInt(sha256(id).slice(0, 8), 16) % CYCLE_DAYS;
}

/** How long what is made now is valid: a little before now as well, for clocks that differ. */
export function validityAt(now: Millis, of: "authority" | "certificate"): { readonly from: Millis; readonly until: Millis } {
  return { from: millis(now - CLOCK_SKEW_MS), until: millis(now + (of === "authority" ? AUTHORITY_LIFE_MS : LIFE_MS)) };
}

/** What the instance is given of it: no key of an authority. */
export function engineCertificates({ previous, authority, server, client, next }: StoredCertificates): EngineCertificates {
  const trusted = [previous, authority, next?.certificate].filter((each) => each !== undefined);
  // As it was stored where there is but one: the pods of an instance from before announcements stay.
  return { authorities: trusted.length === 1 ? authority : trusted.map((each) => `${each.trimEnd()}\n`).join(""), server, client };
}

/** Parses stored certificates. `undefined`: the text is something else. */
export function parseCertificates(text: string | undefined): StoredCertificates | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  if (!isRecord(value)) return undefined;
  const { previous, authority, server, client, notAfter, madeAt, next } = value;
  if (typeof authority !== "string" || typeof notAfter !== "number" || !isPair(server) || !isPair(client)) return undefined;
  return {
    ...{ authority, server, client, notAfter: millis(notAfter) },
    ...(typeof previous === "string" ? { previous } : {}),
    ...(typeof madeAt === "number" ? { madeAt: millis(madeAt) } : {}),
    ...(isAuthority(next) ? { next } : {}),
  };
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

function isPair(value: unknown): value is CertificatePair {
  return isRecord(value) && typeof value["certificate"] === "string" && typeof value["key"] === "string";
}

function isAuthority(value: unknown): value is CertificateAuthority {
  return isRecord(value) && isPair(value) && typeof value["madeAt"] === "number" && typeof value["notAfter"] === "number";
}
