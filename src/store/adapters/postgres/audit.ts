import { type AuditEntry, type AuditRecord, auditText, forgottenEntry, writtenEntry } from "../../../domain/audit.ts";
import type { Millis } from "../../../domain/clock.ts";
import type { Json } from "../../../domain/json.ts";
import type { AuditStore } from "../../audit/port.ts";
import type { Database, Run, Statement } from "./database.ts";
import { build } from "./query-builder.ts";
import { instant, sqlText } from "./sql-values.ts";

/** A trigger gives number, time and hashes, one writer after the other (migration 0010). */
export const APPEND_AUDIT: Statement = {
  name: "append_audit",
  text: `
insert into audit_record (actor, via, role, remote, action, target, outcome, code, count, answers, details)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning seq`,
};

/** In the order of {@link APPEND_AUDIT}. */
export function auditValues(entry: AuditEntry): readonly (string | number | null)[] {
  const { actor, via, role, remote, action, target, outcome, code, count, answers, details } = writtenEntry(entry);
  return [actor, via, role ?? null, remote ?? null, action, target, outcome, code, count, answers ?? null, auditText(details)];
}

/** The turn that each record waits for is taken first: what is oldest then stays so. */
const LOCK: Statement = { name: "lock_audit", text: "select pg_advisory_xact_lock(6101797101107)" };

/** The last of the oldest records that all are older than `$1`, and no younger than a trigger lets go. */
const READ_FORGOTTEN: Statement = {
  name: "read_forgotten_audit",
  text: `
select seq, hash from (
  select seq, hash, bool_and(at < least($1::timestamptz, clock_timestamp() - interval '30 days')) over (order by seq) as is_old
    from (select seq, hash, at from audit_record order by seq limit $2) as o
) as a where is_old order by seq desc limit 1`,
};

/** By the owner of the table, whoever asks: processes need no right to delete from it. */
const FORGET: Statement = { name: "forget_audit", text: "select audit_forget($1) as forgotten" };

type Row = Omit<AuditRecord, "details" | "answers" | "role" | "remote"> & {
  readonly details: string;
  readonly answers: number | null;
  readonly role: string | null;
  readonly remote: string | null;
};

export function createAuditStore(database: Database): AuditStore {
  return {
    async append(entry, signal) {
      const [row] = await database.run<{ readonly seq: number }>(APPEND_AUDIT, auditValues(entry), signal);
      return row?.seq ?? 0;
    },
    async list({ since, actor, action, outcome }, { limit, from, order }, signal) {
      const records = build("audit_record").select("*");
      if (since !== undefined) records.where("at", ">=", instant(since));
      if (actor !== undefined) records.where({ actor: sqlText(actor) });
      if (action !== undefined) records.where({ action: sqlText(action) });
      if (outcome !== undefined) records.where({ outcome });
      if (from !== undefined) records.where("seq", order === "newest-first" ? "<" : ">", from);
      records.orderBy("seq", order === "newest-first" ? "desc" : "asc").limit(limit);
      return (await database.query<Row>("list_audit", records, signal)).map(recordOf);
    },
  };
}

function recordOf({ answers, role, remote, details, ...row }: Row): AuditRecord {
  return {
    ...row,
    answers: answers ?? undefined,
    role: role ?? undefined,
    remote: remote ?? undefined,
    details: JSON.parse(details) as Json,
  };
}

/** Removes the oldest records, after another one that says what the last of them was. Returns how many. */
export async function forgetAudit(run: Run, before: Millis, limit: number): Promise<number> {
  await run(LOCK, []);
  const [last] = await run<{ readonly seq: number; readonly hash: string }>(READ_FORGOTTEN, [instant(before), limit]);
  if (last === undefined) return 0;
  await run(APPEND_AUDIT, auditValues(forgottenEntry(last)));
  const [row] = await run<{ readonly forgotten: number }>(FORGET, [last.seq]);
  return row?.forgotten ?? 0;
}
