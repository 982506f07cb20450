import { type AuditEntry, type AuditRecord, auditHash, auditLine, NO_RECORD, writtenEntry } from "../../../domain/audit.ts";
import type { AuditFilter, AuditPage, AuditStore } from "../../audit/port.ts";
import type { Transact, Transaction } from "./tables.ts";

export function createMemoryAuditStore(transact: Transact): AuditStore {
  return {
    append: (entry, signal) => transact(signal, (transaction) => appendAudit(transaction, entry)),
    list: (filter, page, signal) => transact(signal, ({ tables }) => listed(tables.audit, filter, page)),
  };
}

/** Adds a record to the chain, within another transaction. Returns its number. */
export function appendAudit({ tables, now }: Transaction, entry: AuditEntry): number {
  const last = tables.audit.at(-1);
  const seq = (last?.seq ?? 0) + 1;
  const record = { ...writtenEntry(entry), seq, at: now(), previous: last?.hash ?? NO_RECORD, hash: "" };
  tables.audit.push({ ...record, hash: auditHash(auditLine(record)) });
  return seq;
}

function listed(
  records: readonly AuditRecord[],
  { since, actor, action, outcome }: AuditFilter,
  { limit, from, order }: AuditPage,
): readonly AuditRecord[] {
  const isNewestFirst = order === "newest-first";
  const found = records.filter(
    (record) =>
      (since === undefined || record.at >= since) &&
      (actor === undefined || record.actor === actor) &&
      (action === undefined || record.action === action) &&
      (outcome === undefined || record.outcome === outcome) &&
      (from === undefined || (isNewestFirst ? record.seq < from : record.seq > from)),
  );
  return (isNewestFirst ? found.reverse() : found).slice(0, limit);
}
