import type { WorkspaceId } from "../../../domain/ids.ts";
import { addUsage, isNoUsage, NO_USAGE, type Usage, type User } from "../../../domain/usage.ts";
import type { UsageSample, UsageStore, UsedOnInstance } from "../../usage/port.ts";
import type { Tables, Transact } from "./tables.ts";

const HOUR_MS = 60 * 60_000;

export function createMemoryUsageStore(transact: Transact): UsageStore {
  return {
    readMark: (instanceId, signal) => transact(signal, ({ tables }) => tables.usageMarks.get(instanceId)),
    record: (sample, signal) => transact(signal, ({ tables }) => record(tables, sample)),
    list: ({ since, until }, signal) =>
      transact(signal, ({ tables }) => {
        const sums = new Map<string, UsedOnInstance>();
        for (const { hour, usage, ...own } of tables.usageHours.values()) {
          if (hour < since || hour >= until) continue;
          const key = parts(own);
          const labels = (own.workspaceId && tables.usageLabels.get(own.workspaceId)?.labels) || {};
          sums.set(key, { ...own, labels, usage: addUsage(sums.get(key)?.usage ?? NO_USAGE, usage) });
        }
        return [...sums.values()].sort((a, b) => (parts(a) < parts(b) ? -1 : 1));
      }),
  };
}

function parts({ namespace, workspaceId, instanceId, of }: Omit<UsedOnInstance, "usage" | "labels">): string {
  return [namespace, workspaceId ?? "", instanceId, of].join("\0");
}

function record(tables: Tables, { instanceId, after, mark, workspaces, base, unattributed }: UsageSample): boolean {
  const known = tables.usageMarks.get(instanceId);
  if (known !== undefined && known.until !== after) return false;
  tables.usageMarks.set(instanceId, mark);
  const hour = Math.floor(mark.until / HOUR_MS) * HOUR_MS;
  const add = (
    of: User,
    usage: Usage,
    { workspaceId, namespace }: { readonly workspaceId?: WorkspaceId; readonly namespace: string },
  ): void => {
    if (isNoUsage(usage)) return;
    const key = [hour, instanceId, of, workspaceId ?? ""].join("|");
    const before = tables.usageHours.get(key)?.usage ?? NO_USAGE;
    tables.usageHours.set(key, { hour, of, namespace, workspaceId, instanceId, usage: addUsage(before, usage) });
  };
  for (const one of workspaces) add("workspace", one.usage, one);
  add("base", base, { namespace: "" });
  add("unattributed", unattributed, { namespace: "" });
  return true;
}
