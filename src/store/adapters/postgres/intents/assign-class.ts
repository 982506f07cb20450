import type { ClassAssignment } from "../../../intent/port.ts";
import type { Database, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";
import { lockUnitsOf } from "../environments/raise-users.ts";

/** A workspace of which nothing has an owner has the trust of its new class at once; any other one when its first unit arrives there. */
const ASSIGN: Statement = {
  name: "assign_class",
  text: `
with changed as (
  update placement_unit u
     set class = case when u.owner is null then $2 else u.class end,
         wanted_class = case when u.owner is null then null else nullif($2, u.class) end,
         row_version = u.row_version + 1
   where u.workspace = $1 and coalesce(u.wanted_class, u.class) <> $2
  returning u.id, u.owner
), trusted as (
  update workspace w set trust_class = $3
   where w.id = $1 and exists (select from changed)
     and not exists (select from placement_unit u where u.workspace = $1 and u.owner is not null)
), journal as (
  insert into decision (${DECISION_COLUMNS})
  select $4, $5, $6, $7, $8, $9, $10::json where exists (select from changed)
)
select count(pg_notify('argosy', n.notification)) as sent
  from (select 'unit:' || id from changed union all select 'class:' || $1 where exists (select from changed)) as n (notification)`,
};

export function assignClass(
  database: Database,
  ids: DecisionIds,
  { workspaceId, class: className, trustClass, decision }: ClassAssignment,
  signal: AbortSignal,
): Promise<void> {
  return database.transaction(
    "assign_class",
    async (run) => {
      await lockUnitsOf(run, workspaceId);
      await run(ASSIGN, [workspaceId, className, trustClass, ...decisionValues(ids, decision)]);
    },
    signal,
  );
}
