import type { UnitId, WorkspaceId } from "../../../../domain/ids.ts";
import type { Database, Statement } from "../database.ts";
import { FORGET_SPLIT } from "../splits/parts-as-seen.ts";
import { lockWorkspaces } from "./forget-workspace.ts";

const FIND: Statement = { name: "find_part", text: "select workspace from placement_unit where id = $1" };

const IS_OVER: Statement = {
  name: "is_part_over",
  text: `
select joins as into from placement_unit u
 where u.id = $1 and u.joins is not null and not exists (select from application a where a.unit = u.id)
   and not exists (select from move m where m.unit = u.id and m.ended_at is null and m.phase <> 'WAITING')`,
};

/** What cascades have ended is remembered with the unit that its applications passed to. */
const KEEP_ENDED: Statement = { name: "keep_ended_of_part", text: "update ended_application set unit = $2 where unit = $1" };

/** Moves of the part go with it; the journal has them. */
const DROP: Statement = {
  name: "drop_part",
  text: `
with objects as (
  delete from shard_object o
   using (select subject, kind, instance from shard_object where subject = $1 order by kind, instance for update) as l
   where o.subject = l.subject and o.kind = l.kind and o.instance = l.instance
), dropped as (
  delete from placement_unit where id = $1 returning workspace
), kept as (
  update workspace_split s set parts = s.parts - 1, open_part = least(s.open_part, s.parts - 2) from dropped d where s.workspace = d.workspace and s.parts > 1
)
select pg_notify('argosy', 'unit:' || $2) from dropped`,
};

/** @see ShardStore.forgetPart */
export function forgetPart(database: Database, id: UnitId, signal: AbortSignal): Promise<boolean> {
  return database.transaction(
    "forget_part",
    async (run) => {
      const [found] = await run<{ readonly workspace: WorkspaceId }>(FIND, [id]);
      if (found === undefined) return true;
      await lockWorkspaces(run, [found.workspace]);
      const [over] = await run<{ readonly into: UnitId }>(IS_OVER, [id]);
      if (over === undefined) return false;
      await run(KEEP_ENDED, [id, over.into]);
      await run(DROP, [id, over.into]);
      await run(FORGET_SPLIT, [found.workspace]);
      return true;
    },
    signal,
  );
}
