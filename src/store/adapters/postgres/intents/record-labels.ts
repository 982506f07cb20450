import type { WorkspaceLabels } from "../../../intent/port.ts";
import type { Database, Statement } from "../database.ts";
import { sortedBy, texts } from "../sql-values.ts";

const RECORD: Statement = {
  name: "record_labels",
  text: `
insert into usage_label (workspace, labels) select i.workspace, i.labels::json from unnest($1::text[], $2::text[]) as i (workspace, labels)
on conflict (workspace) do update set labels = excluded.labels, gone_at = null`,
};

export async function recordLabels(database: Database, workspaces: readonly WorkspaceLabels[], signal: AbortSignal): Promise<void> {
  const sorted = sortedBy(workspaces, ({ workspaceId }) => workspaceId);
  const values = [texts(sorted.map(({ workspaceId }) => workspaceId)), texts(sorted.map(({ labels }) => JSON.stringify(labels)))];
  await database.run(RECORD, values, signal);
}
