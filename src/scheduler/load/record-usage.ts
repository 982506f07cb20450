import type { Millis } from "../../domain/clock.ts";
import type { EnvironmentId, WorkspaceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { addUsage, NO_USAGE } from "../../domain/usage.ts";
import type { CountedUnit } from "../../store/load/port.ts";
import type { Store } from "../../store/port.ts";
import type { WorkspaceUsage } from "../../store/usage/port.ts";
import { attributeUsage, type UsageQuestion, type UsageShares } from "./attribute-usage.ts";
import type { PageSums } from "./metrics-page.ts";
import type { PagesAt } from "./rates.ts";
import { usageSince } from "./usage-since.ts";

export interface UsageDeps {
  readonly store: Pick<Store, "usages">;
  readonly environmentOf: (server: string) => EnvironmentId | undefined;
  readonly canariesPerMinute: number;
}

export interface SampledInstance extends Pick<UsageQuestion, "units" | "signals" | "weights"> {
  readonly instance: Instance;
  readonly pages: PagesAt;
  readonly controller: PageSums;
  readonly counted: readonly CountedUnit[];
  readonly at: Millis;
}

/**
 * Accounts for what an instance took since anybody last did so. What another member has accounted for meanwhile is left to it, and the next
 * sample goes on from there.
 */
export async function recordUsage(deps: UsageDeps, sampled: SampledInstance, signal: AbortSignal): Promise<void> {
  const { instance, pages, counted, at } = sampled;
  const before = await deps.store.usages.readMark(instance.id, signal);
  const since = usageSince(before, pages, at);
  if (since === undefined) return;
  const { taken, mark } = since;
  const cached = cachedOf(sampled.controller, deps.environmentOf);
  const { entries } = instance;
  const shares = attributeUsage({ ...sampled, taken, entries, cached, canariesPerMinute: deps.canariesPerMinute });
  const { base, unattributed } = shares;
  const workspaces = byWorkspace(counted, shares);
  await deps.store.usages.record({ instanceId: instance.id, after: before?.until, mark, workspaces, base, unattributed }, signal);
}

function cachedOf({ entryObjects }: PageSums, environmentOf: UsageDeps["environmentOf"]): UsageQuestion["cached"] {
  const environments = new Map<EnvironmentId, number>();
  let shared = 0;
  for (const [server, objects] of entryObjects) {
    const id = environmentOf(server);
    if (id === undefined) shared += objects;
    else environments.set(id, (environments.get(id) ?? 0) + objects);
  }
  return { shared, environments };
}

/** The parts of a split workspace are one. */
function byWorkspace(counted: readonly CountedUnit[], { units }: UsageShares): readonly WorkspaceUsage[] {
  const sums = new Map<WorkspaceId, WorkspaceUsage>();
  for (const { unitId, workspaceId, namespace } of counted) {
    const usage = addUsage(sums.get(workspaceId)?.usage ?? NO_USAGE, units.get(unitId) ?? NO_USAGE);
    sums.set(workspaceId, { workspaceId, namespace, usage });
  }
  return [...sums.values()];
}
