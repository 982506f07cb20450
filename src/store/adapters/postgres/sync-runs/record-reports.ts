import type { RunPublication, RunReport } from "../../../sync-run/port.ts";
import type { Database, Statement } from "../database.ts";
import { instants, numbers, sortedBy, texts } from "../sql-values.ts";
import { UNFINISHED } from "./run-row.ts";

/** The end of a run lets the next one of its application begin, so the queue is notified too. */
const REPORT: Statement = {
  name: "record_run_reports",
  text: `
with locked as materialized (
  select i.*, r.application
    from rows from (
           unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::timestamptz[]),
           json_array_elements($10::json))
      as i (uid, instance, epoch, requested_at, phase, message, synced_revision, started_at, finished_at, hooks)
   cross join lateral (
     select r.application from sync_run r
      where r.uid = i.uid and ${UNFINISHED}
        and exists (select from application a join placement_unit u on u.id = a.unit where a.id = r.application and u.owner = i.instance and u.epoch = i.epoch)
        for no key update) as r
), written as (
  update sync_run r
     set requested_at = l.requested_at, phase = l.phase, message = l.message, synced_revision = l.synced_revision, started_at = l.started_at,
         finished_at = l.finished_at, hooks = l.hooks, view_revision = r.view_revision + 1
    from locked l where l.uid = r.uid
  returning r.uid, r.application, r.finished_at
)
select pg_notify('argosy', n.notification)
  from (select 'sync-run:' || uid from written
        union all select distinct 'sync-queue:' || application from written where finished_at is not null) as n (notification)`,
};

const PUBLISHED: Statement = {
  name: "record_published_runs",
  text: `
with locked as materialized (
  select i.* from unnest($1::text[], $2::text[], $3::bigint[]) as i (uid, hash, view_revision)
   cross join lateral (select uid from sync_run where uid = i.uid for no key update) as r
)
update sync_run r set published_hash = l.hash, published_revision = greatest(r.published_revision, l.view_revision)
  from locked l where l.uid = r.uid`,
};

export async function recordRunReports(database: Database, reports: readonly RunReport[], signal: AbortSignal): Promise<void> {
  if (reports.length === 0) return;
  const batch = sortedBy(reports, ({ uid }) => uid);
  const progress = batch.map((report) => report.progress);
  const values = [
    texts(batch.map(({ uid }) => uid)),
    texts(batch.map(({ instanceId }) => instanceId)),
    numbers(batch.map(({ epoch }) => epoch)),
    instants(batch.map(({ requestedAt }) => requestedAt)),
    texts(progress.map(({ phase }) => phase)),
    texts(progress.map(({ message }) => message)),
    texts(progress.map(({ revision }) => revision)),
    instants(progress.map(({ startedAt }) => startedAt)),
    instants(progress.map(({ finishedAt }) => finishedAt)),
    JSON.stringify(progress.map(({ hooks }) => hooks)),
  ];
  await database.run(REPORT, values, signal);
}

export async function recordPublishedRuns(database: Database, entries: readonly RunPublication[], signal: AbortSignal): Promise<void> {
  if (entries.length === 0) return;
  const batch = sortedBy(entries, ({ uid }) => uid);
  const revisions = numbers(batch.map(({ viewRevision }) => viewRevision));
  await database.run(PUBLISHED, [texts(batch.map(({ uid }) => uid)), texts(batch.map(({ hash }) => hash)), revisions], signal);
}
