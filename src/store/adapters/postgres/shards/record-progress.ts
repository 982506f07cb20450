import type { Clock } from "../../../../domain/clock.ts";
import { canonicalJson } from "../../../../domain/hash.ts";
import type { ProgressNote } from "../../../shard/port.ts";
import type { Database, Statement } from "../database.ts";
import { instant, numbers, sortedBy, texts } from "../sql-values.ts";

/** Rows are locked as placements do: statuses, then operations, each in order of their keys. */
const RECORD: Statement = {
  name: "record_progress",
  text: `
with input as materialized (
  select i.subject, i.state, i.attempts, i.message, nullif(i.blockage::text, 'null')::json as blockage
    from rows from (unnest($1::text[], $2::text[], $3::integer[], $4::text[]), json_array_elements($5::json)) as i (subject, state, attempts, message, blockage)
   order by i.subject
), seen as materialized (
  select s.application, i.blockage
    from input i
   cross join lateral (
     select application from application_status
      where application = i.subject
        and (blockage::text is distinct from i.blockage::text
             or exists (select from operation o where o.subject = i.subject and o.state <> 'Completed' and o.message <> i.message))
        for no key update) as s
), reported as (
  update application_status s set blockage = n.blockage, view_revision = s.view_revision + 1 from seen n where s.application = n.application
), open as materialized (
  select o.id, i.state, i.attempts, i.message
    from (select * from input where (select count(*) from seen) >= 0 order by subject) as i
   cross join lateral (select id from operation where subject = i.subject and state <> 'Completed' order by id for no key update) as o
), noted as (
  update operation o set state = n.state, attempts = o.attempts + n.attempts, message = n.message, is_trouble = true, updated_at = $6 from open n where o.id = n.id
)
select count(pg_notify('argosy', 'status:' || application)) as sent from seen`,
};

export async function recordProgress(database: Database, clock: Clock, notes: readonly ProgressNote[], signal: AbortSignal): Promise<void> {
  if (notes.length === 0) return;
  const batch = sortedBy(notes, (note) => note.applicationId);
  const values = [
    texts(batch.map((note) => note.applicationId)),
    texts(batch.map((note) => note.state)),
    numbers(batch.map((note) => note.attempts)),
    texts(batch.map((note) => note.message)),
    canonicalJson(batch.map((note) => note.blockage ?? null)),
    instant(clock.now()),
  ];
  await database.run(RECORD, values, signal);
}
