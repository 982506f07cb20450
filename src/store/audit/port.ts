import type { AuditEntry, AuditOutcome, AuditRecord } from "../../domain/audit.ts";
import type { Millis } from "../../domain/clock.ts";

export interface AuditFilter {
  readonly since?: Millis;
  readonly actor?: string;
  readonly action?: string;
  readonly outcome?: AuditOutcome;
}

/** A page of a list: records after (or, newest first, before) the one with this number. */
export interface AuditPage {
  readonly limit: number;
  /** Of the record that the page goes on from; `undefined`: from the beginning, or from the newest. */
  readonly from?: number;
  readonly order: "oldest-first" | "newest-first";
}

/**
 * The audit trail: who asked for what, with which outcome. Records are written once and never changed; only retention removes the oldest. The
 * store numbers them without gaps, gives them its own time, and chains them by hashes, whoever writes at the same time.
 */
export interface AuditStore {
  /** Returns its number. Details that are too long are cut (`boundDetails`). */
  append(entry: AuditEntry, signal: AbortSignal): Promise<number>;
  list(filter: AuditFilter, page: AuditPage, signal: AbortSignal): Promise<readonly AuditRecord[]>;
}
