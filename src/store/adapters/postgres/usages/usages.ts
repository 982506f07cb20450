import { type Millis, millis } from "../../../../domain/clock.ts";
import type { InstanceId } from "../../../../domain/ids.ts";
import type { Usage, UsageMark, User } from "../../../../domain/usage.ts";
import type { UsageStore, UsedOnInstance } from "../../../usage/port.ts";
import type { Database, Statement } from "../database.ts";
import { instant } from "../sql-values.ts";
import { recordUsage } from "./record-usage.ts";

const READ_MARK: Statement = { name: "read_usage_mark", text: "select until, processes from usage_mark where instance = $1" };

const LIST: Statement = {
  name: "list_usage",
  text: `
select used_by, namespace, instance, sum(controller_cpu_ms)::bigint as controller_cpu_ms, sum(repo_server_cpu_ms)::bigint as repo_server_cpu_ms,
       sum(memory_kib_s)::bigint as memory_kib_s
  from usage_hour where hour >= $1 and hour < $2
 group by namespace, instance, used_by
 order by namespace, instance, used_by`,
};

interface UsageRow {
  readonly used_by: User;
  readonly namespace: string;
  readonly instance: InstanceId;
  readonly controller_cpu_ms: number;
  readonly repo_server_cpu_ms: number;
  readonly memory_kib_s: number;
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
  return { of: row.used_by, namespace: row.namespace, instanceId: row.instance, usage };
}
