import type { Clock } from "../../../../domain/clock.ts";
import type { RunIntent } from "../../../sync-run/port.ts";
import type { Database, Statement } from "../database.ts";
import { instant, instants, sortedBy, texts } from "../sql-values.ts";
import { UNFINISHED } from "./run-row.ts";

/** An application that is being deleted is none any more: its namesake may follow. */
const RECORD: Statement = {
  name: "record_runs",
  text: `
with input as materialized (
  select i.*, a.id as application
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::timestamptz[])
      as i (uid, api_cluster, namespace, name, deployment_uid, revision, prune, created_at)
    left join lateral (select id from application where uid = i.deployment_uid and deleted_at is null offset 0) as a on true
), written as (
  insert into sync_run as r (uid, api_cluster, namespace, name, application, revision, prune, created_at, recorded_at)
  select uid, api_cluster, namespace, name, application, revision, prune, created_at, $9 from input order by uid
  on conflict (uid) do update
     set application = excluded.application, view_revision = r.view_revision + 1
   where r.phase = 'Pending' and not r.is_cancelled and excluded.application is not null and r.application is distinct from excluded.application
     and not exists (select from application b where b.id = r.application and b.deleted_at is null)
  returning r.uid, r.application
)
select pg_notify('argosy', n.notification)
  from (select 'sync-run:' || uid from written union all select distinct 'sync-queue:' || application from written where application is not null) as n (notification)`,
};

/** Whether an instance holds the application of a run `r`. */
const IS_PLACED =
  "exists (select from application a join placement_unit u on u.id = a.unit where a.id = r.application and u.owner is not null)";

const CANCEL: Statement = {
  name: "cancel_runs",
  text: `
with locked as materialized (
  select r.uid, ${IS_PLACED} as is_placed
    from unnest($1::text[]) as i (uid)
   cross join lateral (select r.uid, r.application from sync_run r where r.uid = i.uid and ${UNFINISHED} and not (r.is_cancelled and ${IS_PLACED}) for no key update) as r
), written as (
  update sync_run r
     set is_cancelled = true, view_revision = r.view_revision + 1,
         phase = case when l.is_placed then r.phase else 'Terminated' end,
         finished_at = case when l.is_placed then r.finished_at else $2 end
    from locked l where l.uid = r.uid
  returning r.uid, r.application
)
select pg_notify('argosy', n.notification)
  from (select 'sync-run:' || uid from written union all select distinct 'sync-queue:' || application from written where application is not null) as n (notification)`,
};

const GIVE_UP: Statement = {
  name: "give_up_runs",
  text: `
with locked as materialized (
  select r.uid, i.message
    from unnest($1::text[], $2::text[]) as i (uid, message)
   cross join lateral (select r.uid from sync_run r where r.uid = i.uid and ${UNFINISHED} and not ${IS_PLACED} for no key update) as r
), written as (
  update sync_run r set phase = 'Failed', message = l.message, finished_at = $3, view_revision = r.view_revision + 1
    from locked l where l.uid = r.uid
  returning r.uid
)
select pg_notify('argosy', 'sync-run:' || uid) from written`,
};

const FORGET: Statement = {
  name: "forget_runs",
  text: `
delete from sync_run d
 using (select r.uid from unnest($1::text[]) as i (uid)
         cross join lateral (select r.uid from sync_run r where r.uid = i.uid and not (${UNFINISHED}) for update) as r) as l
 where d.uid = l.uid`,
};

export async function recordRuns(database: Database, clock: Clock, intents: readonly RunIntent[], signal: AbortSignal): Promise<void> {
  if (intents.length === 0) return;
  const batch = sortedBy(intents, ({ uid }) => uid);
  const values = [
    texts(batch.map(({ uid }) => uid)),
    texts(batch.map(({ apiCluster }) => apiCluster)),
    texts(batch.map(({ namespace }) => namespace)),
    texts(batch.map(({ name }) => name)),
    texts(batch.map(({ deploymentUid }) => deploymentUid)),
    texts(batch.map(({ revision }) => revision)),
    `{${batch.map(({ prune }) => prune).join(",")}}`,
    instants(batch.map(({ createdAt }) => createdAt)),
    instant(clock.now()),
  ];
  await database.run(RECORD, values, signal);
}

export async function cancelRuns(database: Database, clock: Clock, uids: readonly string[], signal: AbortSignal): Promise<void> {
  if (uids.length > 0) await database.run(CANCEL, [texts(uids.toSorted()), instant(clock.now())], signal);
}

export async function giveUpRuns(
  database: Database,
  clock: Clock,
  entries: readonly { readonly uid: string; readonly message: string }[],
  signal: AbortSignal,
): Promise<void> {
  if (entries.length === 0) return;
  const batch = sortedBy(entries, ({ uid }) => uid);
  const values = [texts(batch.map(({ uid }) => uid)), texts(batch.map(({ message }) => message)), instant(clock.now())];
  await database.run(GIVE_UP, values, signal);
}

export async function forgetRuns(database: Database, uids: readonly string[], signal: AbortSignal): Promise<void> {
  if (uids.length > 0) await database.run(FORGET, [texts(uids.toSorted())], signal);
}
