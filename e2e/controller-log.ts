import { callHarness } from "./harness-client.ts";
import type { World } from "./world.ts";

/** One comparison of an application, as the controller logs it: a source that is independent of metrics. */
export interface Reconciliation {
  readonly project: string;
  /** When it ended. Controllers log the second; its middle is taken. */
  readonly at: number;
  readonly ms: number;
}

/**
 * How often an instance's running controller has put off a self-heal of what it had just synced, because its cache
 * did not show the sync yet.
 */
export async function healsPutOff({ harness }: World, instance: string): Promise<number> {
  const asked = { namespace: `argosy-${instance}`, container: "argocd-application-controller", containing: "already attempted sync to" };
  return ((await callHarness(harness, "saidBy", asked)) as readonly string[]).length;
}

/** The comparisons that an instance's running controller has logged so far. */
export async function reconciliationsOf({ harness }: World, instance: string): Promise<readonly Reconciliation[]> {
  const lines = (await callHarness(harness, "saidBy", {
    ...{ namespace: `argosy-${instance}`, container: "argocd-application-controller", containing: '"Reconciliation completed"' },
  })) as readonly string[];
  return lines.map((line) => {
    const { project, time, time_ms: ms } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (typeof project !== "string" || typeof ms !== "number") throw new Error(`the controller's log has changed: ${line}`);
    return { project, at: Date.parse(String(time)) + 500, ms };
  });
}
