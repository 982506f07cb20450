import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { freePort } from "../hack/dev-cluster/ports.ts";
import { type ArgosyProcess, startArgosy } from "../hack/fleet/argosy-process.ts";
import { applyObjects, tokenOf } from "../hack/fleet/install.ts";
import { accountOfRole, renderAccounts } from "../src/cli/install/roles.ts";
import { ROLES, type Role } from "../src/domain/role.ts";
import { allReady } from "./control-plane.ts";
import { declareFleet } from "./declare-fleet.ts";
import { callHarness } from "./harness-client.ts";
import { keepSecret } from "./secrets-in-use.ts";
import { until, type World } from "./world.ts";

/** One control plane process for each role, each with the rights of a pod under its role's ServiceAccount. */
export interface ProcessesByRole {
  /** What API servers refused a process because it has no right to it, as `role: METHOD resource`; and what it logged of that. */
  refusals(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/**
 * Ends the usual control planes, which have every role and one account, and starts a process for each role in their stead, on the same
 * database. The API is where the first of them had it. `stop` brings the usual ones back.
 */
export async function startByRole(world: World): Promise<ProcessesByRole> {
  const { harness, kube, signal } = world;
  const configFile = (await callHarness(harness, "configOf", { index: 0 })) as string;
  const usual = parse(readFileSync(configFile, "utf8")) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  await applyObjects(kube, renderAccounts("account-per-role", { hostsInstances: true }), signal);
  // As a pod reaches the cluster it runs in, and so does whoever hosts instances there.
  await declareFleet(world, inOwnCluster(harness.fleetDocument));
  for (const index of harness.argosyUrls.keys()) await callHarness(harness, "killArgosy", { index });

  const directory = mkdtempSync(join(tmpdir(), "argosy-by-role-"));
  const processes = new Map<Role, ArgosyProcess>();
  const { server, ca } = clusterOf(harness.adminKubeconfig);
  for (const role of ROLES) {
    const pod = join(directory, `pod-of-${role}`);
    mkdirSync(pod);
    const token = await keepSecret(`the token of ${role}`, await tokenOf(kube, accountOfRole(role), signal));
    writeFileSync(join(pod, "token"), token, { mode: 0o600 });
    writeFileSync(join(pod, "ca.crt"), ca);
    const port = await freePort();
    const listen = role === "api" ? Number(new URL(harness.argosyUrls[0] ?? "").port) : await freePort();
    const process = await startArgosy({
      name: `argosy-${role}`,
      directory,
      databaseUrl: harness.databaseUrl,
      kubeconfig: "",
      encryptionKeyFile: join(dirname(configFile), "encryption.key"),
      port,
      config: {
        ...usual,
        apiCluster: { ...usual["apiCluster"], kubeconfig: undefined },
        roles: [role],
        listen: { host: "127.0.0.1", port: listen },
        monitoring: { host: "127.0.0.1", port },
      },
      env: {
        KUBERNETES_SERVICE_HOST: server.hostname,
        KUBERNETES_SERVICE_PORT: server.port,
        ARGOSY_E2E_SERVICE_ACCOUNT: pod,
        NODE_OPTIONS: `--import=${new URL("./service-account-files.ts", import.meta.url).href}`,
      },
    });
    processes.set(role, process);
  }
  await Promise.all([...processes.values()].map((process) => process.ready(signal)));
  return {
    async refusals() {
      const found = await Promise.all([...processes].map(([role, process]) => refusalsOf(role, process)));
      return found.flat();
    },
    async stop() {
      await declareFleet(world, harness.fleetDocument);
      await Promise.all([...processes.values()].map((process) => process.stop()));
      for (const index of harness.argosyUrls.keys()) await callHarness(harness, "startArgosy", { index });
      await allReady(world);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The owner's account is asked for what it may no longer do, by a write that changes nothing: that refusal is what a move waits for. */
const ASKED_AS_OTHERS = 'method="POST",resource="configmaps"';

async function refusalsOf(role: Role, { url, logFile }: ArgosyProcess): Promise<readonly string[]> {
  const metrics = await until(
    `metrics of ${role}`,
    async () => {
      const response = await fetch(`${url}/metrics`).catch(() => undefined);
      return response?.text();
    },
    (text) => text !== undefined,
  );
  const counted = (metrics ?? "").split("\n").filter((line) => line.startsWith("argosy_kube_requests_total{"));
  if (counted.length === 0) throw new Error(`${role} counts no request to an API server`);
  const refused = counted.filter((line) => line.includes('code="403"') && !line.includes(ASKED_AS_OTHERS));
  const logged = readFileSync(logFile, "utf8")
    .split("\n")
    .filter((line) => line.includes('"status":403'));
  return [...refused, ...logged].map((line) => `${role}: ${line}`);
}

function inOwnCluster(document: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const clusters = document["engineClusters"] as readonly Readonly<Record<string, unknown>>[];
  return {
    ...document,
    engineClusters: clusters.map(({ kubeconfigSecret: _kubeconfig, ...cluster }) => ({ ...cluster, inCluster: true })),
  };
}

function clusterOf(kubeconfig: string): { readonly server: URL; readonly ca: string } {
  const { clusters } = parse(readFileSync(kubeconfig, "utf8")) as {
    readonly clusters: readonly { readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } }[];
  };
  const cluster = clusters[0]?.cluster;
  if (cluster === undefined) throw new Error(`${kubeconfig} names no cluster`);
  return { server: new URL(cluster.server), ca: Buffer.from(cluster["certificate-authority-data"], "base64").toString() };
}
