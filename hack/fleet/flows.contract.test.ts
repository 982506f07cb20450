import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { accountOfRole } from "../../src/cli/install/roles.ts";
import { ACCOUNTS_NAMESPACE } from "../../src/domain/names.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { applyObjects } from "./install.ts";
import { type InstalledCluster, startInstalledCluster } from "./testing/installed-cluster.ts";

const never = new AbortController().signal;
const START_MS = 120_000;

let cluster: InstalledCluster;
beforeAll(async () => {
  cluster = await startInstalledCluster(never);
}, START_MS);
afterAll(() => cluster.stop());

/** How many requests the API server has let through by a FlowSchema, at its priority level. */
async function dispatched(flow: string): Promise<number> {
  let sum = 0;
  for await (const line of cluster.admin.watchLines("/metrics", {}, never))
    if (
      line.startsWith("apiserver_flowcontrol_dispatched_requests_total{") &&
      line.includes(`flow_schema="${flow}",priority_level="${flow}"`)
    )
      sum += Number(line.slice(line.lastIndexOf(" ") + 1));
  return sum;
}

/** The API server hears of new FlowSchemas by a watch of its own. */
async function goesBy(flow: string, client: KubeClient): Promise<void> {
  await vi.waitFor(
    async () => {
      const before = await dispatched(flow);
      await client.request({ method: "GET", path: "/apis" }, never);
      expect(await dispatched(flow)).toBeGreaterThan(before);
    },
    { timeout: START_MS, interval: 200 },
  );
}

it("requests of Argosy's own accounts have a priority level of their own, whichever role asks", async () => {
  for (const role of ["workspace", "reconciler"] as const) await goesBy("argosy", await cluster.as(accountOfRole(role)));
});

it("requests of the accounts of instances and units have another one", async () => {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "instance-1", namespace: ACCOUNTS_NAMESPACE } };
  await applyObjects(cluster.admin, [account], never);
  const before = await dispatched("argosy");
  await goesBy("argosy-instances", await cluster.as("instance-1", ACCOUNTS_NAMESPACE));
  expect(await dispatched("argosy")).toBe(before);
});
