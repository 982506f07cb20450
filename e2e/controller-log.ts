import { callHarness } from "./harness-client.ts";
import type { World } from "./world.ts";

/** One comparison of an application, as the controller tells of it: an account that owes nothing to metrics. */
export interface Reconciliation {
  readonly project: string;
  /** When it ended; controllers say the second, and its middle is taken. */
  readonly at: number;
  readonly ms: number;
}

/** How often an instance's running controller has put off healing what it had just synced, because its cache did not show that yet. */
export async function healsPutOff({ harness }: World, instance: string): Promise<number> {
  const asked = { namespace: `argosy-${instance}`, container: "argocd-application-controller", containing: "already attempted sync to" };
  return ((await callHarness(harness, "saidBy", asked)) as readonly string[]).length;
}

/** Comparisons an instance's running controller has logged so far. */
export async function reconciliationsOf({ harness }: World, instance: string): Promise<readonly Reconciliation[]> {
  const lines = (await callHarness(harness, "saidBy", {
    ...{ namespace: `argosy-${instance}`, container: "argocd-application-controller", containing: '"Reconciliation completed"' },
  })) as readonly string[];
  return lines.map((line) => {
    const { project, time, time_ms: ms } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (typeof project !== "string" || typeof ms !== "number") throw new Error(`a controller speaks otherwise by now: ${line}`);
    return { project, at: Date.parse(String(time)) + 500, ms };
  });
}
