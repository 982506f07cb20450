import type { Clock } from "../../../../domain/clock.ts";
import type { ShardObject } from "../../../../domain/shard-object.ts";
import type { Database, Statement } from "../database.ts";
import { instant, numbers, sortedBy, texts } from "../sql-values.ts";

/**
 * The rows are there since the objects are wanted, and are locked here before they are changed: each condition is tested on
 * the row as it is then, and none is made again that went. Cluster entries belong to no unit: theirs are made here.
 */
const ACKNOWLEDGE: Statement = {
  name: "acknowledge",
  text: `
with input as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
    as i (subject, kind, instance, revision, epoch, uid, hash)
), locked as materialized (
  select i.*
    from input i
   cross join lateral (
     select unit from shard_object where subject = i.subject and kind = i.kind and instance = i.instance and applied_revision <= i.revision for no key update) as o
   cross join lateral (select id from placement_unit where id = o.unit and owner = i.instance and epoch = i.epoch offset 0) as u
), taken as (
  insert into shard_object as o (subject, kind, instance, desired_revision, applied_revision, epoch, uid, hash)
  select * from (
    select subject, kind, instance, revision, revision, epoch, uid, hash from locked
    union all
    select subject, kind, instance, revision, revision, epoch, uid, hash from input where kind = 'cluster-entry'
  ) as t (subject, kind, instance, desired_revision, applied_revision, epoch, uid, hash)
   order by subject, kind, instance
  on conflict (subject, kind, instance) do update
     set desired_revision = greatest(o.desired_revision, excluded.desired_revision), applied_revision = excluded.applied_revision, epoch = excluded.epoch, uid = excluded.uid, hash = excluded.hash
   where o.epoch < excluded.epoch or (o.epoch = excluded.epoch and o.applied_revision <= excluded.applied_revision)
  returning o.subject, o.kind, o.applied_revision as revision
), answered as materialized (
  select o.id from (select subject, revision from taken where kind = 'application' order by subject) as t
   cross join lateral (
     select id from operation where subject = t.subject and kind = 'apply-application' and state <> 'Completed' and revision <= t.revision for no key update) as o
), completed as (
  update operation o set state = 'Completed', attempts = o.attempts + 1, updated_at = $8, message = '' from answered a where o.id = a.id
)
select count(*) as taken from taken`,
};

export async function acknowledge(database: Database, clock: Clock, objects: readonly ShardObject[], signal: AbortSignal): Promise<number> {
  if (objects.length === 0) return 0;
  const batch = sortedBy(
    objects,
    (object) => object.subject,
    (object) => object.kind,
    (object) => object.instanceId,
  );
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
