import type { Millis } from "../../../domain/clock.ts";
import type { JournalPosition, RetentionStore } from "../../retention/port.ts";
import { forgetAudit } from "./audit.ts";
import type { Database, Statement } from "./database.ts";
import { instant } from "./sql-values.ts";

/** Forgets rows of a table, the oldest first. `$1`: before when, `$2`: how many. */
const forgetting = (
  name: string,
  { table, old, age }: { readonly table: string; readonly old: string; readonly age: string },
): Statement => ({
  name,
  text: `
with old as materialized (
  select id from ${table} where ${old} order by ${age}, id limit $2 for update skip locked
), gone as (
  delete from ${table} t using old where t.id = old.id
)
select count(*) as forgotten from old`,
});

const FORGET_OPERATIONS = forgetting("forget_operations", {
  table: "operation",
  old: "state = 'Completed' and updated_at < $1",
  age: "updated_at",
});
const FORGET_MOVES = forgetting("forget_moves", { table: "move", old: "ended_at < $1", age: "ended_at" });

const FORGET_ENDED = forgetting("forget_ended_applications", { table: "ended_application", old: "ended_at < $1", age: "ended_at" });

const FORGET_USAGE: Statement = {
  name: "forget_usage",
  text: `
with old as materialized (
  select hour, instance, used_by, workspace from usage_hour where hour < $1 order by hour, instance, used_by, workspace limit $2 for update skip locked
), gone as (
  delete from usage_hour h using old o
   where h.hour = o.hour and h.instance = o.instance and h.used_by = o.used_by and h.workspace = o.workspace
), marks as (
  delete from usage_mark where until < $1
), ends as (
  update usage_label l set gone_at = now() where l.gone_at is null and not exists (select from workspace w where w.id = l.workspace)
), labels as (
  delete from usage_label where gone_at < $1
)
select count(*) as forgotten from old`,
};

const FORGET_PLANS: Statement = {
  name: "forget_plans",
  text: `
with old as materialized (
  select id from plan where expires_at < $1 order by expires_at, id limit $2 for update skip locked
), gone as (
  delete from plan p using old where p.id = old.id
), moves as (
  delete from unit_move where at < $1 and (select count(*) from old) < $2
)
select count(*) as forgotten from old`,
};

/** A step walks the index by age, so that those it keeps are passed once per walk and not once per step. */
const FORGET_DECISIONS: Statement = {
  name: "forget_decisions",
  text: `
with seen as materialized (
  select id, at, subject, kind from decision where at < $1 and (at, id) > ($2::timestamptz, $3) order by at, id limit $4
), idle as materialized (
  select d.id from seen s cross join lateral (
    select id from decision where id = s.id and (
      exists (select from decision n where n.subject = s.subject and n.kind = s.kind and (n.at, n.id) > (s.at, s.id))
      or (s.kind in ('placement', 'owner-binding') and not exists (select from placement_unit where id = s.subject))
      or (s.kind in ('instance', 'health') and not exists (select from instance where id = s.subject))
      or (s.kind = 'ownership' and not exists (select from placement_unit where id = s.subject)
          and not exists (select from instance where id = s.subject))
      or (s.kind = 'directive' and not exists (select from workspace where id = s.subject)
          and not exists (select from freeze_window where 'freeze/' || name = s.subject))
      or (s.kind = 'deletion' and not exists (select from workspace where id = s.subject))
      or (s.kind = 'plan' and not exists (select from plan where id = s.subject))
    ) for update skip locked) as d
), gone as (
  delete from decision d using idle i where d.id = i.id
)
select (select count(*) from idle) as forgotten, (select count(*) from seen) as seen_count, l.at, l.id
  from (select 1) as one left join (select at, id from seen order by at desc, id desc limit 1) as l on true`,
};

/** What a credential belongs to is written before it or with it: what cannot be seen now is gone. */
const FORGET_CREDENTIALS: Statement = {
  name: "forget_credentials",
  text: `
with orphan as materialized (
  select c.id from credential c
   where (not exists (select from workspace where id = c.owner) and not exists (select from instance where id = c.owner))
      or (c.purpose = 'environment' and not exists (select from environment where id = c.id))
      or (c.purpose = 'environment-owner' and not exists (select from environment where id = regexp_replace(c.id, '\\.owner$', '')))
      or (c.purpose = 'environment-account' and not exists (select from environment where id = regexp_replace(c.id, '\\.account\\..*$', '')))
      or (c.purpose = 'repository' and not exists (select from repository_credential where credential = c.id))
   order by c.id limit $1 for update skip locked
), gone as (
  delete from credential c using orphan o where c.id = o.id
)
select count(*) as forgotten from orphan`,
};

interface Step {
  readonly forgotten: number;
  readonly seen_count: number;
  readonly at: Millis | null;
  readonly id: string | null;
}

const BEGINNING = "-infinity";

export function createRetentionStore(database: Database): RetentionStore {
  return {
    async forgetOperations(before, limit, signal) {
      const [row] = await database.run<{ readonly forgotten: number }>(FORGET_OPERATIONS, [instant(before), limit], signal);
      return row?.forgotten ?? 0;
    },
    async forgetCredentials(limit, signal) {
      const [row] = await database.run<{ readonly forgotten: number }>(FORGET_CREDENTIALS, [limit], signal);
      return row?.forgotten ?? 0;
    },
    async forgetPlans(before, limit, signal) {
      const [row] = await database.run<{ readonly forgotten: number }>(FORGET_PLANS, [instant(before), limit], signal);
      return row?.forgotten ?? 0;
    },
    async forgetMoves(before, limit, signal) {
      const [row] = await database.run<{ readonly forgotten: number }>(FORGET_MOVES, [instant(before), limit], signal);
      return row?.forgotten ?? 0;
    },
    async forgetEnded(before, limit, signal) {
      const [row] = await database.run<{ readonly forgotten: number }>(FORGET_ENDED, [instant(before), limit], signal);
      return row?.forgotten ?? 0;
    },
    async forgetUsage(before, limit, signal) {
      const [row] = await database.run<{ readonly forgotten: number }>(FORGET_USAGE, [instant(before), limit], signal);
      return row?.forgotten ?? 0;
    },
    forgetAudit: (before, limit, signal) => database.transaction("forget_audit", (run) => forgetAudit(run, before, limit), signal),
    async forgetDecisions({ before, limit, after }, signal) {
      const from = after === undefined ? [BEGINNING, ""] : [instant(after.at), after.id];
      const [row] = await database.run<Step>(FORGET_DECISIONS, [instant(before), ...from, limit], signal);
      return { forgotten: row?.forgotten ?? 0, next: nextOf(row, limit) };
    },
  };
}

function nextOf(row: Step | undefined, limit: number): JournalPosition | undefined {
  if (row === undefined || row.seen_count < limit || row.at === null || row.id === null) return undefined;
  return { at: row.at, id: row.id };
}
