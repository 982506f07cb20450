import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderFlows } from "../../../src/cli/install/flows.ts";
import { renderPolicies } from "../../../src/cli/install/policies.ts";
import { renderAccounts, renderApiClusterBase, renderEngineClusterObjects } from "../../../src/cli/install/roles.ts";
import { SYSTEM_NAMESPACE } from "../../../src/domain/names.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import { createKubeClient } from "../../../src/runtime/kube/http.ts";
import { systemRng } from "../../../src/runtime/rng.ts";
import { noMetrics } from "../../../src/telemetry/metrics.ts";
import { renderCrds } from "../../../src/workspace/api/crd.ts";
import { buildSet } from "../../dev-cluster/build.ts";
import { startKubernetes } from "../../dev-cluster/kubernetes.ts";
import { openKube } from "../connect.ts";
import { applyObjects, tokenOf } from "../install.ts";

/** An API server on which everything is installed: what all processes share, and an account for each role. */
export interface InstalledCluster {
  readonly admin: KubeClient;
  /** A client that is an account of Argosy's namespace, or of another. */
  as(account: string, namespace?: string): Promise<KubeClient>;
  stop(): Promise<void>;
}

/** Starts one of its own: others would see the installation's ClusterRoles and policies. No controller runs beside it. */
export async function startInstalledCluster(signal: AbortSignal): Promise<InstalledCluster> {
  const directory = mkdtempSync(join(tmpdir(), "argosy-installed-"));
  const programs = await buildSet("kubernetes", {}, signal);
  const components = ["etcd", "kube-apiserver"] as const;
  const kubernetes = await startKubernetes({ name: "installed", directory, programs, components, endsWithUs: true }, signal);
  const admin = openKube(kubernetes.kubeconfig);
  const open: KubeClient[] = [admin];
  const nobody = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "nobody", namespace: SYSTEM_NAMESPACE } };
  await applyObjects(
    admin,
    [
      ...renderApiClusterBase(),
      ...renderCrds(),
      ...renderPolicies(),
      ...renderFlows(),
      ...renderEngineClusterObjects(),
      ...renderAccounts("one-account", HOSTING),
      ...renderAccounts("account-per-role", HOSTING),
      nobody,
    ],
    signal,
  );
  return {
    admin,
    async as(account, namespace) {
      const token = await tokenOf(admin, account, signal, namespace);
      const client = createKubeClient({
        cluster: "installed",
        credentials: { server: kubernetes.server, ca: kubernetes.ca, token: async () => token },
        clock: systemClock,
        rng: systemRng,
        metrics: noMetrics,
      });
      open.push(client);
      return client;
    },
    async stop() {
      await Promise.all(open.map((client) => client.close()));
      await kubernetes.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const HOSTING = { hostsInstances: true } as const;
