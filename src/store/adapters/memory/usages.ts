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
        for (const { hour, of, namespace, instanceId, usage } of tables.usageHours.values()) {
          if (hour < since || hour >= until) continue;
          const key = JSON.stringify([namespace, instanceId, of]);
          sums.set(key, { of, namespace, instanceId, usage: addUsage(sums.get(key)?.usage ?? NO_USAGE, usage) });
        }
        const parts = ({ namespace, instanceId, of }: UsedOnInstance) => [namespace, instanceId, of].join("\0");
        return [...sums.values()].sort((a, b) => (parts(a) < parts(b) ? -1 : 1));
      }),
  };
}

function record(tables: Tables, { instanceId, after, mark, workspaces, base, unattributed }: UsageSample): boolean {
  const known = tables.usageMarks.get(instanceId);
  if (known !== undefined && known.until !== after) return false;
  tables.usageMarks.set(instanceId, mark);
  const hour = Math.floor(mark.until / HOUR_MS) * HOUR_MS;
  const add = (of: User, workspaceId: string, namespace: string, usage: Usage): void => {
    if (isNoUsage(usage)) return;
    const key = [hour, instanceId, of, workspaceId].join("|");
    const before = tables.usageHours.get(key)?.usage ?? NO_USAGE;
    tables.usageHours.set(key, { hour, of, namespace, instanceId, usage: addUsage(before, usage) });
  };
  for (const one of workspaces) add("workspace", one.workspaceId, one.namespace, one.usage);
  add("base", "", "", base);
  add("unattributed", "", "", unattributed);
  return true;
}
