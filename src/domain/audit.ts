import { type Millis, rfc3339Millis } from "./clock.ts";
import { sha256 } from "./hash.ts";
import type { Json } from "./json.ts";

/** How something was asked for: by a request, by a command that goes to the database, or by Argosy itself together with the change. */
export const AUDIT_VIAS = ["rest", "database", "argosy"] as const;
export type AuditVia = (typeof AUDIT_VIAS)[number];

/** `asked`: it is about to be done, and another record says how it ended. */
export const AUDIT_OUTCOMES = ["asked", "ok", "refused", "failed"] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** The actor of a request without a token that anybody knows. */
export const UNAUTHENTICATED = "unauthenticated";

/** What a writer says. Number, time and hashes are given by the store. */
export interface AuditEntry {
  /** Name of the token, user and host of a command, a role of Argosy, or `unauthenticated`. */
  readonly actor: string;
  readonly via: AuditVia;
  readonly role: string | undefined;
  /** Address of the other end of the connection. */
  readonly remote: string | undefined;
  /** Operation of the REST API, or command. */
  readonly action: string;
  readonly target: string;
  readonly outcome: AuditOutcome;
  /** Of the error; empty: there is none. */
  readonly code: string;
  /** How often; more than 1 for refusals only. */
  readonly count: number;
  /** The record of what was asked for. */
  readonly answers: number | undefined;
  /** A JSON object. It holds no secrets: whoever writes it takes them out. */
  readonly details: Json;
}

export interface AuditRecord extends AuditEntry {
  /** From 1 on, without gaps. */
  readonly seq: number;
  readonly at: Millis;
  /** Hash of the record before; {@link NO_RECORD} before the first. */
  readonly previous: string;
  readonly hash: string;
}

/** A record as a line of an export has it. */
export interface AuditLine {
  readonly action: string;
  readonly actor: string;
  readonly answers: number | null;
  readonly at: string;
  readonly code: string;
  readonly count: number;
  readonly details: Json;
  readonly hash: string;
  readonly outcome: AuditOutcome;
  readonly previous: string;
  readonly remote: string | null;
  readonly role: string | null;
  readonly seq: number;
  readonly target: string;
  readonly via: AuditVia;
}

/** What the first record goes on from. */
export const NO_RECORD = "0".repeat(64);

/** The action of the record by which retention says up to which record it has forgotten. */
export const FORGET_ACTION = "forgetAudit";

/** What retention writes before it forgets all records up to this one: the trail goes on from its hash. A trigger compares the details. */
export function forgottenEntry(last: Pick<AuditRecord, "seq" | "hash">): AuditEntry {
  return {
    ...{ actor: "retention", via: "argosy", role: undefined, remote: undefined, action: FORGET_ACTION, target: "audit" },
    ...{ outcome: "ok", code: "", count: 1, answers: undefined },
    details: { hash: last.hash, through: last.seq },
  };
}

export function auditLine({ at, answers, remote, role, ...rest }: AuditRecord): AuditLine {
  return { ...rest, at: rfc3339Millis(at), answers: answers ?? null, remote: remote ?? null, role: role ?? null };
}

/** SHA-256 of a line's canonical form without its hash. */
export function auditHash({ hash: _hash, ...rest }: AuditLine): string {
  return sha256(auditText(rest));
}

/**
 * JSON with the names of each object sorted by UTF-16 code units and no spaces, as RFC 8785 has it: what is hashed, whatever program writes it.
 * Unlike `canonicalJson` it gives names that are numbers no place of their own.
 */
export function auditText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => auditText(each === undefined ? null : each)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, entry]) => entry !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, entry]) => `${JSON.stringify(name)}:${auditText(entry)}`).join(",")}}`;
}

/** Characters of a record's details at most. */
export const LONGEST_DETAILS = 65_536;

/**
 * Details that fit into a record: text that every program can read, and no more than {@link LONGEST_DETAILS} characters. Of what is longer
 * the lists are cut at their ends; `cut` then says how long it was and has the hash of all of it, so that whoever has the whole can show it.
 */
export function boundDetails(details: Json): Json {
  const whole = wellFormed(details) as Json;
  const text = auditText(whole);
  if (text.length <= LONGEST_DETAILS) return whole;
  const cut = { characters: text.length, sha256: sha256(text) };
  const fields: [string, unknown][] = [];
  let left = LONGEST_DETAILS - 1_000;
  const smallestFirst = Object.entries(whole).sort(([, a], [, b]) => auditText(a).length - auditText(b).length);
  for (const [name, entry] of smallestFirst) {
    const kept = fitted(entry, left - name.length);
    if (kept === undefined) continue;
    fields.push([name, kept]);
    left -= auditText(kept).length + name.length + 4;
  }
  return { ...Object.fromEntries(fields), cut };
}

/** An entry as it is written: each text is one that a database takes and every program can read, and the details fit. */
export function writtenEntry({ details, ...entry }: AuditEntry): AuditEntry {
  const { actor, role, remote, action, target, code } = entry;
  const texts = { actor: mended(actor), action: mended(action), target: mended(target), code: mended(code) };
  const unsure = { role: role === undefined ? role : mended(role), remote: remote === undefined ? remote : mended(remote) };
  return { ...entry, ...texts, ...unsure, details: boundDetails(details) };
}

function mended(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{fffd}");
}

/** As much of a value as so many characters hold: all of it, the beginning of a list, or nothing. */
function fitted(value: unknown, characters: number): unknown {
  if (auditText(value).length <= characters) return value;
  if (!Array.isArray(value)) return undefined;
  const kept: unknown[] = [];
  let left = characters;
  for (const each of value) {
    left -= auditText(each).length + 1;
    if (left < 0) break;
    kept.push(each);
  }
  return kept;
}

/** A copy in which half a surrogate pair, which is no text, has become a mark. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name.toWellFormed(), wellFormed(entry)]));
}
