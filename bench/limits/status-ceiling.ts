import pg from "pg";
import type { RecordedStatus } from "../../src/domain/status.ts";
import { statusValues } from "../../src/store/adapters/postgres/record-statuses.ts";

/** The columns of the store's own table, without its checks. */
const CREATE = `
create table ceiling (
  application text collate "C" primary key, unit text not null, instance text, epoch bigint, sync text, health text, health_message text, revision text,
  conditions json, resources json, resource_count integer, compared_to json, operation_state json, reconciled_at timestamptz, hash text
) with (fillfactor = 70)`;

/** One statement that writes a batch of rows: no fence, no comparison, no notification. */
const WRITE = {
  name: "ceiling",
  text: `
insert into ceiling as s (application, unit, instance, epoch, sync, health, health_message, revision, resource_count, reconciled_at, hash, conditions, resources, compared_to, operation_state)
select i.application, 'unit', i.instance, i.epoch, i.sync, i.health, i.health_message, i.revision, i.resource_count, i.reconciled_at, i.hash, i.conditions, i.resources, i.compared_to, i.operation_state
  from rows from (
         unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::integer[], $9::timestamptz[], $10::text[]),
         json_array_elements($11::json), json_array_elements($12::json), json_array_elements($13::json), json_array_elements($14::json))
    as i (application, instance, epoch, sync, health, health_message, revision, resource_count, reconciled_at, hash, conditions, resources, compared_to, operation_state)
on conflict (application) do update
   set instance = excluded.instance, epoch = excluded.epoch, sync = excluded.sync, health = excluded.health, health_message = excluded.health_message,
       revision = excluded.revision, resource_count = excluded.resource_count, reconciled_at = excluded.reconciled_at, hash = excluded.hash,
       conditions = excluded.conditions, resources = excluded.resources, compared_to = excluded.compared_to, operation_state = excluded.operation_state`,
};

/** All columns that the store writes, except the versions, which only its fence reads. */
const COLUMNS = 14;

export interface StatusCeiling {
  /** Writes a batch, sorted by key. */
  write(batch: readonly RecordedStatus[]): Promise<void>;
  close(): Promise<void>;
}

/** The fastest known way to write statuses as rows: one prepared upsert per batch, from arrays. */
export async function openStatusCeiling(url: string): Promise<StatusCeiling> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(CREATE);
  return {
    write: async (batch) => void (await client.query({ ...WRITE, values: statusValues(batch).slice(0, COLUMNS) })),
    close: () => client.end(),
  };
}
