import type { FirstPlacement, PlacementOutcome } from "../../../placement/port.ts";
import type { Database, Statement } from "../database.ts";
import { loadValues } from "../rows.ts";
import { numbers } from "../sql-values.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../views/decisions.ts";

/**
 * The instance's lock makes placements on it take turns, the unit's keeps its applications as they are. Taken in a statement
 * of its own: the next one then sees what those who held them before have done.
 */
const LOCK: Statement = {
  name: "lock_seat",
  text: "select i.state from instance i cross join placement_unit u where i.id = $1 and u.id = $2 for no key update of i, u",
};

const EXISTS: Statement = { name: "exists_unit", text: "select id from placement_unit where id = $1" };

const COMMIT: Statement = {
  name: "commit_first_placement",
  text: `
with held as materialized (
  select coalesce(sum(load[1]), 0) as l1, coalesce(sum(load[2]), 0) as l2, coalesce(sum(load[3]), 0) as l3, coalesce(sum(load[4]), 0) as l4, coalesce(sum(load[5]), 0) as l5
    from placement_unit where owner = $1
), unit as materialized (
  select * from placement_unit where id = $2 and owner is null and row_version = $3
), placed as (
  update placement_unit u
     set owner = $1, epoch = nextval('epoch_seq'), phase = 'IDLE', row_version = u.row_version + 1, unplaceable = null
    from unit n cross join held h
   where u.id = n.id and $4 = 'ACTIVE'
     and h.l1 + u.load[1] <= ($5::bigint[])[1] and h.l2 + u.load[2] <= ($5::bigint[])[2] and h.l3 + u.load[3] <= ($5::bigint[])[3]
     and h.l4 + u.load[4] <= ($5::bigint[])[4] and h.l5 + u.load[5] <= ($5::bigint[])[5]
  returning u.id, u.owner, u.epoch, u.desired_revision
), wanted as materialized (
  select a.id, a.desired_revision, p.id as unit, p.owner, p.epoch
    from placed p cross join lateral (select id, desired_revision from application where unit = p.id order by id) as a
), objects as (
  insert into shard_object (subject, kind, instance, unit, desired_revision, epoch)
  select * from (
    select id, 'application', owner, unit, desired_revision, epoch from wanted
    union all
    select p.id, k.kind, p.owner, p.id, p.desired_revision, p.epoch from placed p cross join unnest(array['account', 'project', 'register']) as k (kind)
  ) as o (subject, kind, instance, unit, desired_revision, epoch)
   order by subject, kind, instance
  on conflict (subject, kind, instance)
  do update set desired_revision = excluded.desired_revision, applied_revision = 0, epoch = excluded.epoch, uid = '', hash = ''
), seen as (
  select s.application from wanted n cross join lateral (select application from application_status where application = n.id for no key update) as s
), views as (
  update application_status s set view_revision = s.view_revision + 1 from seen n where s.application = n.application
), waiting as (
  select o.id from wanted n cross join lateral (select id from operation where subject = n.id and state = 'Waiting' order by id for no key update) as o
), operations as (
  update operation o set instance = $1, message = '', updated_at = $7 from waiting n where o.id = n.id
), journal as (
  insert into decision (${DECISION_COLUMNS})
  select $6, $7, $8, $9, $10, $11, $12::json from placed
), hints as materialized (
  select count(pg_notify('argosy', h.hint)) as sent from (select 'unit:' || id from placed union all select 'application:' || id from wanted) as h (hint)
)
select (select count(*) from unit) as candidates, (select epoch from placed) as epoch from hints`,
};

interface Row {
  readonly candidates: number;
  readonly epoch: number | null;
}

export function commitFirstPlacement(
  database: Database,
  ids: DecisionIds,
  placement: FirstPlacement,
  signal: AbortSignal,
): Promise<PlacementOutcome> {
  const { unitId, rowVersion, instanceId, ceiling, decision } = placement;
  return database.transaction<PlacementOutcome>(
    "commit_first_placement",
    async (run) => {
      const [seat] = await run<{ readonly state: string }>(LOCK, [instanceId, unitId]);
      if (seat === undefined) return (await run(EXISTS, [unitId])).length > 0 ? { kind: "full" } : { kind: "stale" };
      const limits = numbers(loadValues(ceiling));
      const [row] = await run<Row>(COMMIT, [instanceId, unitId, rowVersion, seat.state, limits, ...decisionValues(ids, decision)]);
      if (row?.epoch !== undefined && row.epoch !== null) return { kind: "placed", epoch: row.epoch };
      return { kind: row?.candidates === 1 ? "full" : "stale" };
    },
    signal,
  );
}
