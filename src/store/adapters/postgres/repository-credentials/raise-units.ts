import type { WorkspaceId } from "../../../../domain/ids.ts";
import type { Run, Statement } from "../database.ts";

/** The caller holds the locks on the units. Rows that acknowledgements change too are locked in order of their keys. */
const RAISE: Statement = {
  name: "raise_units_of_workspaces",
  text: `
with touched as materialized (
  select id, desired_revision + 1 as desired_revision from placement_unit where workspace = any ($1::text[])
), units as (
  update placement_unit u set desired_revision = t.desired_revision from touched t where u.id = t.id
), locked as materialized (
  select o.subject, o.kind, o.instance
    from (select id from touched order by id) as n
   cross join lateral (select subject, kind, instance from shard_object where subject = n.id order by kind, instance for update) as o
), behind as (
  update shard_object o set desired_revision = t.desired_revision
    from locked l, touched t
   where o.subject = l.subject and o.kind = l.kind and o.instance = l.instance and t.id = l.subject
)
select count(pg_notify('argosy', n.notification)) as sent
  from (select 'unit:' || id from touched union all select 'repository:' || id from unnest($1::text[]) as w (id)) as n (notification)`,
};

/** Says that the units of these workspaces should hold something else than before, and that they may read something else. */
export async function raiseUnits(run: Run, workspaces: readonly WorkspaceId[]): Promise<void> {
  if (workspaces.length > 0) await run(RAISE, [workspaces]);
}
