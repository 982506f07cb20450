import type { ShardObject } from "../../../../domain/shard-object.ts";
import type { Database, Statement } from "../database.ts";
import { sortedBy, texts } from "../sql-values.ts";

const FORGET: Statement = {
  name: "forget_objects",
  text: `
with locked as materialized (
  select o.* from unnest($1::text[], $2::text[], $3::text[]) as i (subject, kind, instance)
   cross join lateral (
     select subject, kind, instance from shard_object where subject = i.subject and kind = i.kind and instance = i.instance for update) as o
)
delete from shard_object o using locked l where o.subject = l.subject and o.kind = l.kind and o.instance = l.instance`,
};

export async function forgetObjects(
  database: Database,
  objects: readonly Pick<ShardObject, "instanceId" | "kind" | "subject">[],
  signal: AbortSignal,
): Promise<void> {
  if (objects.length === 0) return;
  const batch = sortedBy(
    objects,
    (object) => object.subject,
    (object) => object.kind,
    (object) => object.instanceId,
  );
  const keys = [batch.map((object) => object.subject), batch.map((object) => object.kind), batch.map((object) => object.instanceId)];
  await database.run(FORGET, keys.map(texts), signal);
}
