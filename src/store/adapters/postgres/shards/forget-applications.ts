import type { Clock } from "../../../../domain/clock.ts";
import type { ApplicationId } from "../../../../domain/ids.ts";
import { LOAD_PER_APPLICATION } from "../../../placement/planning-load.ts";
import type { Database, Run, Statement } from "../database.ts";
import { instant, isSameRepository, texts } from "../sql-values.ts";
import { UNFINISHED } from "../sync-runs/run-row.ts";

const LOCK_UNITS: Statement = {
  name: "lock_units_of_applications",
  text: `
select u.id
  from (select distinct unit from application where id = any ($1::text[]) and deleted_at is not null order by unit) as n
 cross join lateral (select id from placement_unit where id = n.unit for no key update) as u`,
};

/** Rows that acknowledgements change too are locked in order of their keys, shard_object before operation. */
const FORGET: Statement = {
  name: "forget_applications",
  text: `
with doomed as materialized (
  select id, uid, unit, repo_url, environment, argo_name, deletion from application where id = any ($1::text[]) and deleted_at is not null
), raised as materialized (
  select distinct d.unit
    from (select distinct unit, repo_url from doomed) as d
   where not exists (select from application b where b.unit = d.unit and ${isSameRepository("b", "d.repo_url")} and b.id <> all (array(select id from doomed)))
  union
  select unit from doomed where environment is not null
), touched as materialized (
  select u.id, d.leaving, r.unit is not null as is_raised, u.desired_revision + (r.unit is not null)::integer as desired_revision
    from (select unit, count(*) as leaving from doomed group by unit) as d
   cross join lateral (select id, desired_revision from placement_unit where id = d.unit offset 0) as u
    left join raised r on r.unit = d.unit
), units as (
  update placement_unit u set load[1] = u.load[1] - $2 * t.leaving, desired_revision = t.desired_revision from touched t where u.id = t.id
), locked as materialized (
  select o.subject, o.kind, o.instance
    from (select id from doomed union all select id from touched where is_raised order by id) as n
   cross join lateral (select subject, kind, instance from shard_object where subject = n.id order by kind, instance for update) as o
), lost as (
  delete from shard_object o using locked l where o.subject = l.subject and o.kind = l.kind and o.instance = l.instance and o.kind = 'application'
), behind as (
  update shard_object o set desired_revision = t.desired_revision
    from locked l, touched t
   where o.subject = l.subject and o.kind = l.kind and o.instance = l.instance and t.id = l.subject and o.kind <> 'application'
), answered as (
  select o.id from (select id from doomed where (select count(*) from locked) >= 0 order by id) as d
   cross join lateral (select id from operation where subject = d.id and kind = 'delete-application' and state <> 'Completed' for no key update) as o
), completed as (
  update operation o set state = 'Completed', attempts = o.attempts + 1, updated_at = $3, message = '' from answered a where o.id = a.id
), remembered as (
  insert into ended_application (id, uid, argo_name, unit, ended_at)
  select id, uid, argo_name, unit, $3 from doomed where deletion = 'cascade' on conflict (id) do nothing
), gone as (
  delete from application a using doomed d where a.id = d.id
)
select count(pg_notify('argosy', n.notification)) as sent
  from (select 'status:' || id from doomed union all select 'unit:' || unit from raised
        union all select 'sync-run:' || r.uid from doomed d join sync_run r on r.application = d.id where ${UNFINISHED}) as n (notification)`,
};

export async function forgetApplications(
  database: Database,
  clock: Clock,
  ids: readonly ApplicationId[],
  signal: AbortSignal,
): Promise<void> {
  if (ids.length === 0) return;
  await database.transaction(
    "forget_applications",
    async (run) => {
      await run(LOCK_UNITS, [texts(ids)]);
      await forgetLocked(run, clock, ids);
    },
    signal,
  );
}

/** Removes those that are marked as deleted; the caller holds the locks on their units. */
export async function forgetLocked(run: Run, clock: Clock, ids: readonly ApplicationId[]): Promise<void> {
  if (ids.length > 0) await run(FORGET, [texts(ids), LOAD_PER_APPLICATION, instant(clock.now())]);
}
