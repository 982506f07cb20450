import type { Clock } from "../../../../domain/clock.ts";
import type { ShardObject } from "../../../../domain/shard-object.ts";
import type { Database, Statement } from "../database.ts";
import { instant, numbers, sortedBy, texts } from "../sql-values.ts";

/**
 * The rows are there since the object is wanted, so that this is one update each. They are locked in order of their keys
 * before: two batches that overlap wait for each other, and each condition is tested on the row as it is then. Cluster entries
 * belong to no unit: theirs are made here.
 */
const ACKNOWLEDGE: Statement = {
  name: "acknowledge",
  text: `
with input as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
    as i (subject, kind, instance, revision, epoch, uid, hash)
), locked as materialized (
  select o.subject, o.kind, o.instance, i.revision, i.epoch, i.uid, i.hash
    from input i
    join shard_object o using (subject, kind, instance)
    join placement_unit u on u.id = o.unit
   where u.owner = i.instance and u.epoch = i.epoch and o.applied_revision <= i.revision
   order by o.subject, o.kind, o.instance
     for no key update of o
), taken as (
  update shard_object o set applied_revision = l.revision, epoch = l.epoch, uid = l.uid, hash = l.hash
    from locked l
   where o.subject = l.subject and o.kind = l.kind and o.instance = l.instance and o.applied_revision <= l.revision
  returning o.subject, o.kind, l.revision
), entries as (
  insert into shard_object as o (subject, kind, instance, desired_revision, applied_revision, epoch, uid, hash)
  select subject, kind, instance, revision, revision, epoch, uid, hash from input where kind = 'cluster-entry' order by subject, instance
  on conflict (subject, kind, instance)
  do update set desired_revision = excluded.desired_revision, applied_revision = excluded.applied_revision, epoch = excluded.epoch, uid = excluded.uid, hash = excluded.hash
   where o.epoch < excluded.epoch or (o.epoch = excluded.epoch and o.applied_revision <= excluded.applied_revision)
  returning o.subject
), answered as materialized (
  select o.id from operation o join taken t on t.kind = 'application' and o.subject = t.subject
   where o.kind = 'apply-application' and o.state in ('Waiting', 'In_Progress') and o.revision <= t.revision
   order by o.subject, o.id
     for no key update of o
), completed as (
  update operation o set state = 'Completed', attempts = o.attempts + 1, updated_at = $8, message = '' from answered a where o.id = a.id
)
select (select count(*) from taken) + (select count(*) from entries) as taken`,
};

export async function acknowledge(database: Database, clock: Clock, objects: readonly ShardObject[], signal: AbortSignal): Promise<number> {
  if (objects.length === 0) return 0;
  const batch = sortedBy(objects, ({ subject, kind, instanceId }) => [subject, kind, instanceId].join("|"));
  const [row] = await database.run<{ readonly taken: number }>(
    ACKNOWLEDGE,
    [
      texts(batch.map((object) => object.subject)),
      texts(batch.map((object) => object.kind)),
      texts(batch.map((object) => object.instanceId)),
      numbers(batch.map((object) => object.appliedRevision)),
      numbers(batch.map((object) => object.epoch)),
      texts(batch.map((object) => object.uid)),
      texts(batch.map((object) => object.hash)),
      instant(clock.now()),
    ],
    signal,
  );
  return row?.taken ?? 0;
}
