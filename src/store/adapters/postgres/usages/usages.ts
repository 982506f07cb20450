import { type Millis, millis } from "../../../../domain/clock.ts";
import type { InstanceId, WorkspaceId } from "../../../../domain/ids.ts";
import type { Usage, UsageMark, User } from "../../../../domain/usage.ts";
import type { UsageStore, UsedOnInstance } from "../../../usage/port.ts";
import type { Database, Statement } from "../database.ts";
import { instant } from "../sql-values.ts";
import { recordUsage } from "./record-usage.ts";

const READ_MARK: Statement = { name: "read_usage_mark", text: "select until, processes from usage_mark where instance = $1" };

const LIST: Statement = {
  name: "list_usage",
  text: `
select h.*, l.labels
  from (
    select used_by, namespace, workspace, instance, sum(controller_cpu_ms)::bigint as controller_cpu_ms,
           sum(repo_server_cpu_ms)::bigint as repo_server_cpu_ms, sum(memory_kib_s)::bigint as memory_kib_s
      from usage_hour where hour >= $1 and hour < $2
     group by namespace, workspace, instance, used_by) as h
  left join usage_label l on l.workspace = h.workspace
 order by h.namespace, h.workspace, h.instance, h.used_by`,
};

interface UsageRow {
  readonly used_by: User;
  readonly namespace: string;
  /** Empty for what is no workspace's. */
  readonly workspace: WorkspaceId | "";
  readonly instance: InstanceId;
  readonly controller_cpu_ms: number;
  readonly repo_server_cpu_ms: number;
  readonly memory_kib_s: number;
  readonly labels: Readonly<Record<string, string>> | null;
}

export function createUsageStore(database: Database): UsageStore {
  return {
    async readMark(instanceId, signal) {
      type Row = { readonly until: Millis; readonly processes: UsageMark["processes"] };
      const [row] = await database.run<Row>(READ_MARK, [instanceId], signal);
      return row && { until: millis(row.until), processes: row.processes };
    },
    record: (sample, signal) => recordUsage(database, sample, signal),
    list: async ({ since, until }, signal) => (await database.run<UsageRow>(LIST, [instant(since), instant(until)], signal)).map(usedOf),
  };
}

function usedOf(row: UsageRow): UsedOnInstance {
  const { controller_cpu_ms: controllerCpuMs, repo_server_cpu_ms: repoServerCpuMs, memory_kib_s: memoryKibS } = row;
  const usage: Usage = { controllerCpuMs, repoServerCpuMs, memoryKibS };
  const { used_by: of, namespace, workspace, instance: instanceId, labels } = row;
  return { of, namespace, workspaceId: workspace === "" ? undefined : workspace, instanceId, labels: labels ?? {}, usage };
}
