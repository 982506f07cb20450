import { isNoUsage } from "../../../../domain/usage.ts";
import type { UsageSample } from "../../../usage/port.ts";
import type { Database, Statement } from "../database.ts";
import { instant, numbers, sortedBy, texts } from "../sql-values.ts";

/** The mark is locked first and decides: of two samples that go on from the same one, the second waits, finds another mark and adds nothing. */
const RECORD: Statement = {
  name: "record_usage",
  text: `
with moved as materialized (
  insert into usage_mark as m (instance, until, processes) values ($1, $3, $4::json)
  on conflict (instance) do update set until = excluded.until, processes = excluded.processes where m.until = $2::timestamptz
  returning m.until
), share as (
  select s.* from moved
   cross join unnest($5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[])
      as s (used_by, workspace, namespace, controller_cpu_ms, repo_server_cpu_ms, memory_kib_s)
), added as (
  insert into usage_hour as h (hour, instance, used_by, workspace, namespace, controller_cpu_ms, repo_server_cpu_ms, memory_kib_s)
  select date_trunc('hour', $3::timestamptz, 'UTC'), $1, s.used_by, s.workspace, s.namespace, s.controller_cpu_ms, s.repo_server_cpu_ms, s.memory_kib_s from share s
  on conflict (hour, instance, used_by, workspace) do update set
    controller_cpu_ms = h.controller_cpu_ms + excluded.controller_cpu_ms,
    repo_server_cpu_ms = h.repo_server_cpu_ms + excluded.repo_server_cpu_ms,
    memory_kib_s = h.memory_kib_s + excluded.memory_kib_s
)
select count(*) as recorded from moved`,
};

export async function recordUsage(database: Database, sample: UsageSample, signal: AbortSignal): Promise<boolean> {
  const { instanceId, after, mark, base, unattributed } = sample;
  const workspaces = sortedBy(sample.workspaces, ({ workspaceId }) => workspaceId);
  const shares = [
    ...workspaces.map((one) => ({ ...one, of: "workspace" })),
    { of: "base", workspaceId: "", namespace: "", usage: base },
    { of: "unattributed", workspaceId: "", namespace: "", usage: unattributed },
  ].filter(({ usage }) => !isNoUsage(usage));
  const values = [
    instanceId,
    after === undefined ? null : instant(after),
    instant(mark.until),
    JSON.stringify(mark.processes),
    texts(shares.map(({ of }) => of)),
    texts(shares.map(({ workspaceId }) => workspaceId)),
    texts(shares.map(({ namespace }) => namespace)),
    numbers(shares.map(({ usage }) => usage.controllerCpuMs)),
    numbers(shares.map(({ usage }) => usage.repoServerCpuMs)),
    numbers(shares.map(({ usage }) => usage.memoryKibS)),
  ];
  const [row] = await database.run<{ readonly recorded: number }>(RECORD, values, signal);
  return row?.recorded === 1;
}
