import type { ApplicationId } from "../../../domain/ids.ts";
import type { RecordedRefresh, RecordedStatus } from "../../../domain/status.ts";
import type { Database, Statement } from "./database.ts";
import { instants, numbers, sortedBy, texts } from "./sql-values.ts";

/**
 * Documents travel as one JSON array a column, which costs less than half of an array of texts: nothing is quoted twice.
 * A mere refresh keeps the documents it has: large ones lie outside the row and would be written anew. A row of which nothing
 * is new is not written at all. The epoch, the time and the version are tested once more on the locked row: an older statement that waited must not win.
 */
const RECORD: Statement = {
  name: "record_statuses",
  text: `
with locked as materialized (
  select i.*, s.unit, s.hash is distinct from i.hash as is_change
    from rows from (
           unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::integer[], $9::timestamptz[], $10::text[], $15::bigint[]),
           json_array_elements($11::json), json_array_elements($12::json), json_array_elements($13::json), json_array_elements($14::json))
      as i (application, instance, epoch, sync, health, health_message, revision, resource_count, reconciled_at, hash, version, conditions, resources, compared_to, operation_state)
   cross join lateral (
     select unit, hash from application_status
      where application = i.application and (epoch is null or epoch <= i.epoch)
        and (epoch is distinct from i.epoch or reconciled_at is null or i.reconciled_at is null or i.reconciled_at >= reconciled_at)
        and (epoch is distinct from i.epoch or reconciled_at is distinct from i.reconciled_at or version is null or i.version is null or i.version >= version)
        and (hash is distinct from i.hash or reconciled_at is distinct from i.reconciled_at or epoch is distinct from i.epoch)
        for no key update) as s
   cross join lateral (select id from placement_unit where id = s.unit and owner = i.instance and epoch = i.epoch offset 0) as u
), written as (
  insert into application_status as s (application, unit, instance, epoch, sync, health, health_message, revision, resource_count, reconciled_at, hash, version, conditions, resources, compared_to, operation_state)
  select application, unit, instance, epoch, sync, health, health_message, revision, resource_count, reconciled_at, hash, version, conditions, resources, compared_to, operation_state from locked
  on conflict (application) do update
     set instance = excluded.instance, epoch = excluded.epoch, sync = excluded.sync, health = excluded.health, health_message = excluded.health_message,
         revision = excluded.revision, resource_count = excluded.resource_count, reconciled_at = excluded.reconciled_at, hash = excluded.hash, version = excluded.version,
         conditions = case when s.hash = excluded.hash then s.conditions else excluded.conditions end,
         resources = case when s.hash = excluded.hash then s.resources else excluded.resources end,
         compared_to = case when s.hash = excluded.hash then s.compared_to else excluded.compared_to end,
         operation_state = case when s.hash = excluded.hash then s.operation_state else excluded.operation_state end,
         view_revision = s.view_revision + (s.hash is distinct from excluded.hash)::integer
)
select application, pg_notify('argosy', 'status:' || application) from locked where is_change`,
};

/** Rows are locked in the order of the batch, which is that of their ids, as {@link RECORD} locks them. */
const REFRESH: Statement = {
  name: "record_refreshes",
  text: `
with locked as materialized (
  select i.application, i.reconciled_at, i.version
    from unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::text[], $6::bigint[]) as i (application, instance, epoch, reconciled_at, hash, version)
   cross join lateral (
     select unit from application_status
      where application = i.application and instance = i.instance and epoch = i.epoch and hash = i.hash
        and (reconciled_at is null or i.reconciled_at is null or i.reconciled_at >= reconciled_at)
        for no key update) as s
   cross join lateral (select id from placement_unit where id = s.unit and owner = i.instance and epoch = i.epoch offset 0) as u
)
update application_status as s set reconciled_at = l.reconciled_at, version = l.version
  from locked l where s.application = l.application
returning s.application`,
};

export async function recordRefreshes(
  database: Database,
  refreshes: readonly RecordedRefresh[],
  signal: AbortSignal,
): Promise<readonly ApplicationId[]> {
  if (refreshes.length === 0) return [];
  const batch = sortedBy(refreshes, (refresh) => refresh.applicationId);
  const values = [
    texts(batch.map((entry) => entry.applicationId)),
    texts(batch.map((entry) => entry.instanceId)),
    numbers(batch.map((entry) => entry.epoch)),
    instants(batch.map((entry) => entry.reconciledAt)),
    texts(batch.map((entry) => entry.hash)),
    numbers(batch.map(({ version }) => version)),
  ];
  const rows = await database.run<{ readonly application: ApplicationId }>(REFRESH, values, signal);
  return rows.map(({ application }) => application);
}

export async function recordStatuses(
  database: Database,
  statuses: readonly RecordedStatus[],
  signal: AbortSignal,
): Promise<readonly ApplicationId[]> {
  if (statuses.length === 0) return [];
  const rows = await database.run<{ readonly application: ApplicationId }>(
    RECORD,
    statusValues(sortedBy(statuses, (status) => status.applicationId)),
    signal,
  );
  const changed = new Set(rows.map((row) => row.application));
  return statuses.map((status) => status.applicationId).filter((id) => changed.has(id));
}

/** A batch as arrays by column: ten of scalars, four JSON arrays of documents, and the versions. */
export function statusValues(batch: readonly RecordedStatus[]): readonly unknown[] {
  return [
    texts(batch.map((entry) => entry.applicationId)),
    texts(batch.map((entry) => entry.instanceId)),
    numbers(batch.map((entry) => entry.epoch)),
    texts(batch.map(({ status }) => status.sync.status)),
    texts(batch.map(({ status }) => status.health.status)),
    texts(batch.map(({ status }) => status.health.message)),
    texts(batch.map(({ status }) => status.sync.revision)),
    numbers(batch.map(({ status }) => status.resourceCount)),
    instants(batch.map((entry) => entry.reconciledAt)),
    texts(batch.map((entry) => entry.hash)),
    JSON.stringify(batch.map(({ status }) => status.conditions)),
    JSON.stringify(batch.map(({ status }) => status.resources)),
    JSON.stringify(batch.map(({ status }) => status.comparedTo)),
    // JSON has no "absent": such entries become null.
    JSON.stringify(batch.map(({ status }) => status.operationState)),
    numbers(batch.map(({ version }) => version)),
  ];
}
