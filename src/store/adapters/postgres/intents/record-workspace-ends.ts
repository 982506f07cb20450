import type { WorkspaceId } from "../../../../domain/ids.ts";
import type { Database, Statement } from "../database.ts";
import { dropWorkspaces, lockWorkspaces } from "../shards/forget-workspace.ts";

/** Nothing of those that were never placed can stand anywhere. */
const LIST_NOWHERE: Statement = {
  name: "list_workspaces_nowhere",
  text: `
select w.id from workspace w
 where w.id = any ($1::text[])
   and not exists (select from environment e where e.workspace = w.id and e.has_account)
   and not exists (select from placement_unit u where u.workspace = w.id and (u.epoch > 0 or exists (select from application a where a.unit = u.id)))
 order by w.id`,
};

/** A cascade that had not ended when its namespace was gone finds nothing left there, and the right to read there is gone too. */
const MARK: Statement = {
  name: "record_workspace_ends",
  text: `
with marked as (
  update workspace set state = 'deleting' where id = any ($1::text[]) and state <> 'deleting' returning id
), released as (
  update application a set deletion = 'orphan' from marked m
   where a.workspace = m.id and a.deletion = 'cascade' and a.environment is null
  returning a.id
)
select count(pg_notify('argosy', n.notification)) as sent
  from (select 'unit:' || u.id from placement_unit u join marked m on u.workspace = m.id union all select 'application:' || id from released) as n (notification)`,
};

export async function recordWorkspaceEnds(database: Database, ids: readonly WorkspaceId[], signal: AbortSignal): Promise<void> {
  if (ids.length === 0) return;
  await database.transaction(
    "record_workspace_ends",
    async (run) => {
      await lockWorkspaces(run, ids);
      const nowhere = await run<{ readonly id: WorkspaceId }>(LIST_NOWHERE, [ids]);
      await run(MARK, [ids]);
      await dropWorkspaces(
        run,
        nowhere.map(({ id }) => id),
      );
    },
    signal,
  );
}
