import type { WorkspaceId } from "../../../../domain/ids.ts";
import type { Run, Statement } from "../database.ts";

/** Like everybody who changes what a unit holds: its lock first, so that no use of the environment is added meanwhile. */
const LOCK_UNITS: Statement = {
  name: "lock_units_of_environment",
  text: "select id from placement_unit where workspace = $1 order by id for no key update",
};

/** Rows that acknowledgements and statuses change too are locked in order of their keys. */
const RAISE: Statement = {
  name: "raise_users_of_environment",
  text: `
with users as materialized (
  select id, unit, (deleted_at is null)::integer as step from application where workspace = $1 and environment = $2 order by id
), applications as (
  update application a set desired_revision = a.desired_revision + u.step from users u where a.id = u.id
  returning a.id, a.desired_revision
), units as (
  update placement_unit p set desired_revision = p.desired_revision + 1 where p.id in (select unit from users)
  returning p.id, p.desired_revision
), raised as materialized (
  select id, desired_revision from applications union all select id, desired_revision from units
), locked as materialized (
  select o.subject, o.kind, o.instance, r.desired_revision
    from (select id, desired_revision from raised order by id) as r
   cross join lateral (select subject, kind, instance from shard_object where subject = r.id order by kind, instance for no key update) as o
), objects as (
  update shard_object o set desired_revision = l.desired_revision
    from locked l where o.subject = l.subject and o.kind = l.kind and o.instance = l.instance
), seen as materialized (
  select s.application from users u cross join lateral (select application from application_status where application = u.id for no key update) as s
), views as (
  update application_status s set view_revision = s.view_revision + 1 from seen n where s.application = n.application
)
select count(pg_notify('argosy', n.notification)) as sent
  from (select 'unit:' || id from units union all select 'application:' || id from users) as n (notification)`,
};

export async function lockUnitsOf(run: Run, workspaceId: WorkspaceId): Promise<void> {
  await run(LOCK_UNITS, [workspaceId]);
}

/** Everything that follows from an environment is wanted anew, and its users should hear of it; the units are locked. */
export async function raiseUsers(run: Run, workspaceId: WorkspaceId, name: string): Promise<void> {
  await run(RAISE, [workspaceId, name]);
}
