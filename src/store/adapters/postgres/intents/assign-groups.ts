import type { GroupAssignment } from "../../../intent/port.ts";
import type { Database, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";
import { lockUnitsOf } from "../environments/raise-users.ts";
import { groupValues } from "../rows.ts";
import { lockWorkspaces } from "../shards/forget-workspace.ts";

/** A first placement that was decided by the former groups finds another version of its unit, and is decided again. */
const ASSIGN: Statement = {
  name: "assign_groups",
  text: `
with changed as (
  update workspace w set apart = $2::json, together = $3
   where w.id = $1 and (w.apart::text is distinct from $2 or w.together is distinct from $3)
  returning w.id
), units as (
  update placement_unit u set is_regrouped = u.owner is not null, row_version = u.row_version + 1
    from changed c where u.workspace = c.id
  returning u.id
), journal as (
  insert into decision (${DECISION_COLUMNS})
  select $4, $5, $6, $7, $8, $9, $10::json from changed
)
select count(pg_notify('argosy', 'unit:' || id)) as sent from units`,
};

export function assignGroups(
  database: Database,
  ids: DecisionIds,
  { workspaceId, groups, decision }: GroupAssignment,
  signal: AbortSignal,
): Promise<void> {
  return database.transaction(
    "assign_groups",
    async (run) => {
      await lockWorkspaces(run, [workspaceId]);
      await lockUnitsOf(run, workspaceId);
      await run(ASSIGN, [workspaceId, ...groupValues(groups), ...decisionValues(ids, decision)]);
    },
    signal,
  );
}
