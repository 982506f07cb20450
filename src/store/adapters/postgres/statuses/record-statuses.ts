import type { ApplicationId } from "../../../../domain/ids.ts";
import type { RecordedStatus } from "../../../../domain/status.ts";
import type { Database, Statement } from "../database.ts";
import { instants, numbers, sortedBy, texts } from "../sql-values.ts";

/**
 * A mere refresh keeps the documents it has: large ones lie outside the row and would be written anew. A row of which nothing
 * is new is not written at all. The epoch is tested once more on the locked row: an older statement that waited must not win.
 */
const RECORD: Statement = {
  name: "record_statuses",
  text: `
with input as materialized (
  select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::text[], $12::text[], $13::timestamptz[], $14::text[])
    as i (application, instance, epoch, sync, health, health_message, revision, conditions, resources, resource_count, compared_to, operation_state, reconciled_at, hash)
), locked as materialized (
  select s.application, s.hash is distinct from i.hash as is_news
    from input i
    join application_status s using (application)
    join placement_unit u on u.id = s.unit
   where u.owner = i.instance and u.epoch = i.epoch
     and (s.hash is distinct from i.hash or s.reconciled_at is distinct from i.reconciled_at or s.epoch is distinct from i.epoch)
     and (s.epoch is null or s.epoch <= i.epoch)
   order by s.application
     for no key update of s
), news as (
  update application_status s
     set instance = i.instance, epoch = i.epoch, sync = i.sync, health = i.health, health_message = i.health_message, revision = i.revision,
         conditions = i.conditions::json, resources = i.resources::json, resource_count = i.resource_count, compared_to = i.compared_to::json,
         operation_state = i.operation_state::json, reconciled_at = i.reconciled_at, hash = i.hash, view_revision = s.view_revision + 1
    from locked l join input i using (application)
   where s.application = l.application and l.is_news
  returning s.application
), refreshed as (
  update application_status s set instance = i.instance, epoch = i.epoch, reconciled_at = i.reconciled_at
    from locked l join input i using (application)
   where s.application = l.application and not l.is_news
)
select application, pg_notify('argosy', 'status:' || application) from news`,
};

export async function recordStatuses(
  database: Database,
  statuses: readonly RecordedStatus[],
  signal: AbortSignal,
): Promise<readonly ApplicationId[]> {
  if (statuses.length === 0) return [];
  const rows = await database.run<{ readonly application: ApplicationId }>(
    RECORD,
    values(sortedBy(statuses, (status) => status.applicationId)),
    signal,
  );
  const changed = new Set(rows.map((row) => row.application));
  return statuses.map((status) => status.applicationId).filter((id) => changed.has(id));
}

function values(batch: readonly RecordedStatus[]): readonly unknown[] {
  return [
    texts(batch.map((entry) => entry.applicationId)),
    texts(batch.map((entry) => entry.instanceId)),
    numbers(batch.map((entry) => entry.epoch)),
    texts(batch.map(({ status }) => status.sync.status)),
    texts(batch.map(({ status }) => status.health.status)),
    texts(batch.map(({ status }) => status.health.message)),
    texts(batch.map(({ status }) => status.sync.revision)),
    texts(batch.map(({ status }) => JSON.stringify(status.conditions))),
    texts(batch.map(({ status }) => JSON.stringify(status.resources))),
    numbers(batch.map(({ status }) => status.resourceCount)),
    texts(batch.map(({ status }) => JSON.stringify(status.comparedTo))),
    texts(batch.map(({ status }) => (status.operationState === undefined ? undefined : JSON.stringify(status.operationState)))),
    instants(batch.map((entry) => entry.reconciledAt)),
    texts(batch.map((entry) => entry.hash)),
  ];
}
