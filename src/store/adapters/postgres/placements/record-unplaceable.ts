import type { UnitId } from "../../../../domain/ids.ts";
import { refusalHash } from "../../../../domain/refusal.ts";
import { WAITING_FOR_CAPACITY } from "../../../operation/messages.ts";
import type { PlacementRefusal } from "../../../placement/port.ts";
import type { Database, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";

/** The same reason twice in a row is journaled once: the scheduler tries at every sweep and whenever an instance changes. */
const RECORD: Statement = {
  name: "record_unplaceable",
  text: `
with unit as materialized (
  select id, owner, unplaceable from placement_unit where id = $1 and (owner is null or wanted_class is not null or is_regrouped) and unplaceable is distinct from $2 for no key update
), marked as (
  update placement_unit u set unplaceable = $2 from unit n where u.id = n.id
), journal as (
  insert into decision (${DECISION_COLUMNS})
  select $4, $5, $6, $7, $8, $9, $10::json from unit
), waiting as materialized (
  select a.id from unit n cross join lateral (select id from application where unit = n.id order by id) as a where n.unplaceable is null and n.owner is null
), seen as (
  select s.application from waiting n cross join lateral (select application from application_status where application = n.id for no key update) as s
), views as (
  update application_status s set view_revision = s.view_revision + 1 from seen n where s.application = n.application
), open as (
  select o.id from waiting n cross join lateral (select id from operation where subject = n.id and state <> 'Completed' order by id for no key update) as o
), operations as (
  update operation o set message = $3, is_trouble = false, updated_at = $5 from open n where o.id = n.id
)
select count(pg_notify('argosy', 'application:' || id)) as sent from waiting`,
};

export async function recordUnplaceable(
  database: Database,
  ids: DecisionIds,
  { unitId, refusal: { decision, reason } }: { readonly unitId: UnitId; readonly refusal: PlacementRefusal },
  signal: AbortSignal,
): Promise<void> {
  await database.run(RECORD, [unitId, refusalHash(decision, reason), WAITING_FOR_CAPACITY, ...decisionValues(ids, decision)], signal);
}
