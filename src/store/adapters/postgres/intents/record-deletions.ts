import type { Clock } from "../../../../domain/clock.ts";
import type { ApplicationId } from "../../../../domain/ids.ts";
import type { DeletionIntent } from "../../../intent/port.ts";
import { SUPERSEDED_BY_DELETION } from "../../../operation/messages.ts";
import type { Database, Statement } from "../database.ts";
import { openingOf } from "../operations.ts";
import { forgetLocked } from "../shards/forget-applications.ts";
import { sortedBy, texts } from "../sql-values.ts";

const LOCK_UNITS: Statement = {
  name: "lock_units_of_uids",
  text: `
select u.id
  from (select distinct unit from application where uid = any ($1::text[]) order by unit) as n
 cross join lateral (select id from placement_unit where id = n.unit for no key update) as u`,
};

const MARK: Statement = {
  name: "record_deletions",
  text: `
with known as materialized (
  select a.id, a.workspace, a.unit, a.desired_revision, i.deletion, i.operation, u.owner, u.epoch, a.deleted_at is null as is_first,
         a.deleted_at is null or (a.deletion = 'cascade' and i.deletion = 'orphan') as is_change
    from unnest($1::text[], $2::text[], $3::text[]) as n (uid, deletion, operation)
   cross join lateral (select id, workspace, unit, desired_revision, deletion, deleted_at, environment from application where uid = n.uid offset 0) as a
   cross join lateral (select case when n.deletion = 'cascade' and state = 'deleting' then 'with-namespace' else n.deletion end as asked from workspace where id = a.workspace offset 0) as w
   cross join lateral (select n.operation, case when w.asked <> 'with-namespace' then w.asked when a.environment is null then 'orphan' else 'cascade' end as deletion) as i
   cross join lateral (select owner, epoch from placement_unit where id = a.unit offset 0) as u
), marked as (
  update application a set deletion = k.deletion, deleted_at = coalesce(a.deleted_at, $4) from known k where a.id = k.id and k.is_change
), waiting as (
  select o.id from (select id from known where is_first order by id) as k
   cross join lateral (select id from operation where subject = k.id and kind = 'apply-application' and state <> 'Completed' for no key update) as o
), superseded as (
  update operation o set state = 'Completed', attempts = o.attempts + 1, updated_at = $4, message = $8 from waiting w where o.id = w.id
), opened as (
  insert into operation (id, workspace, instance, subject, kind, state, revision, created_at, updated_at, deadline, message)
  select operation, workspace, owner, id, 'delete-application', 'Waiting', desired_revision, $4, $4, $5, case when owner is null then $6 else $7 end from known
   where is_first and (select count(*) from waiting) >= 0
   order by id
  on conflict (subject, kind) where state <> 'Completed' do nothing
), notifications as materialized (
  select count(pg_notify('argosy', 'application:' || id)) as sent from known where is_change
)
select k.id, k.epoch = 0 as is_nowhere from known k cross join notifications`,
};

interface Marked {
  readonly id: ApplicationId;
  readonly is_nowhere: boolean;
}

export async function recordDeletions(
  database: Database,
  clock: Clock,
  deletions: readonly DeletionIntent[],
  signal: AbortSignal,
): Promise<void> {
  if (deletions.length === 0) return;
  const batch = sortedBy(deletions, (deletion) => deletion.uid);
  const uids = texts(batch.map((deletion) => deletion.uid));
  await database.transaction(
    "record_deletions",
    async (run) => {
      await run(LOCK_UNITS, [uids]);
      const kinds = texts(batch.map((deletion) => deletion.deletion));
      const marked = await run<Marked>(MARK, [
        uids,
        kinds,
        texts(batch.map((deletion) => deletion.operationId)),
        ...openingOf(clock.now()),
        SUPERSEDED_BY_DELETION,
      ]);
      await forgetLocked(
        run,
        clock,
        marked.filter((row) => row.is_nowhere).map((row) => row.id),
      );
    },
    signal,
  );
}
