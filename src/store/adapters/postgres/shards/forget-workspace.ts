import type { WorkspaceId } from "../../../../domain/ids.ts";
import type { Database, Run, Statement } from "../database.ts";

const LOCK_WORKSPACES: Statement = {
  name: "lock_workspaces",
  text: "select id, state from workspace where id = any ($1::text[]) order by id for update",
};

const LOCK_UNITS: Statement = {
  name: "lock_units_of_workspace_ids",
  text: "select id from placement_unit where workspace = any ($1::text[]) order by id for update",
};

const IS_EMPTY: Statement = {
  name: "is_workspace_empty",
  text: `select not exists (select from application a join placement_unit u on u.id = a.unit where u.workspace = $1)
   and not exists (select from environment where workspace = $1 and has_account)
   and not exists (select from move m join placement_unit u on u.id = m.unit where u.workspace = $1 and m.ended_at is null and m.phase <> 'WAITING') as is_empty`,
};

/** Units, their moves and operations go with their workspace (on delete cascade). */
const DROP: Statement = {
  name: "drop_workspaces",
  text: `
with units as materialized (
  select id from placement_unit where workspace = any ($1::text[])
), objects as (
  delete from shard_object o
   using (select subject, kind, instance from shard_object where subject in (select id from units union all select id from environment where workspace = any ($1::text[])) order by subject, kind, instance for update) as l
   where o.subject = l.subject and o.kind = l.kind and o.instance = l.instance
), secrets as (
  delete from credential where owner = any ($1::text[])
)
delete from workspace where id = any ($1::text[])`,
};

/** Keeps others from adding to the workspaces until the transaction ends. Workspaces are locked before units everywhere. */
export async function lockWorkspaces(
  run: Run,
  ids: readonly WorkspaceId[],
): Promise<readonly { readonly id: WorkspaceId; readonly state: string }[]> {
  const found = await run<{ readonly id: WorkspaceId; readonly state: string }>(LOCK_WORKSPACES, [ids]);
  await run(LOCK_UNITS, [ids]);
  return found;
}

export async function dropWorkspaces(run: Run, ids: readonly WorkspaceId[]): Promise<void> {
  if (ids.length > 0) await run(DROP, [ids]);
}

export function forgetWorkspace(database: Database, id: WorkspaceId, signal: AbortSignal): Promise<boolean> {
  return database.transaction(
    "forget_workspace",
    async (run) => {
      const [workspace] = await lockWorkspaces(run, [id]);
      if (workspace === undefined) return true;
      const [emptiness] = await run<{ readonly is_empty: boolean }>(IS_EMPTY, [id]);
      if (workspace.state !== "deleting" || emptiness?.is_empty !== true) return false;
      await dropWorkspaces(run, [id]);
      return true;
    },
    signal,
  );
}
