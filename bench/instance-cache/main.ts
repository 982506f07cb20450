import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { applyAll, applyCrds } from "../../hack/dev-cluster/apply.ts";
import { type DevApi, startDevCluster } from "../../hack/dev-cluster/dev-cluster.ts";
import { proportionalBytes, residentBytes } from "../../hack/dev-cluster/processes/proc.ts";
import { startGitServer } from "../../hack/git-server/git-server.ts";
import { loadKubeconfig } from "../../src/runtime/kube/auth.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import { instanceWith, OWN_NAMESPACE, tokenFor, WAYS, type Way } from "./instances.ts";

const HELP = `Usage: npm run bench -- instance-cache [options]

What the memory of an instance's controller takes as the API cluster fills with objects of others: two real controllers with one application each on one
API cluster, one with a shared entry and one behind a filter (entries: filtered), and the filter itself.

  --objects 10000,50000,100000   ConfigMaps of other namespaces, of 1 KiB, after each step (the default)
  -o json                        one JSON object in place of the table
  --help                         this text
`;

const VERSION = "3.5.7";
const LIFETIME_MS = 2 * 60 * 60_000;
const AT_ONCE = 32;
const MIB = 2 ** 20;
/** How long processes are left alone after the last object was made, in ms: events are worked off in a second, and garbage is given back a while later. */
const SETTLE_MS = 45_000;
const CONFIG_MAPS: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const APPLICATIONS: ResourceType = {
  group: "argoproj.io",
  version: "v1alpha1",
  plural: "applications",
  kind: "Application",
  namespaced: true,
};
const OTHERS = Array.from({ length: 10 }, (_, index) => `bench-others-${index}`);

/** Memory of a process in MiB: what is resident, and its share of that where pages are shared with others. */
interface Memory {
  readonly rss: number;
  readonly pss: number;
}

interface Step {
  readonly objects: number;
  readonly shared: Memory;
  readonly filtered: Memory;
  readonly filter: Memory;
}

/** Runs the measure with these arguments and writes the result. Returns the exit code. */
export async function instanceCacheBench(args: readonly string[], write: (text: string) => void): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: "string", default: "10000,50000,100000" },
      output: { type: "string", short: "o" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) {
    write(HELP);
    return 0;
  }
  const isJson = values.output === "json";
  const sizes = values.objects.split(",").map(Number);
  const signal = AbortSignal.timeout(LIFETIME_MS);
  const directory = mkdtempSync(join(tmpdir(), "argosy-bench-"));
  mkdirSync(join(directory, "git"));
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const dev = await startDevCluster({ stateDir: join(directory, "cluster") }, signal);
    stops.push(dev.stop);
    const git = await startGitServer({ directory: join(directory, "git") });
    stops.push(git.stop);
    await git.createRepository("bench", { "app/one.json": JSON.stringify(configMap(OWN_NAMESPACE, "one", "own")) });
    await openInstances(
      dev.main,
      { crds: join((await dev.argoCd(VERSION, signal)).directory, "crds"), repoURL: git.repositoryUrl("bench") },
      signal,
    );
    const steps: Step[] = [];
    let made = 0;
    for (const size of [0, ...sizes]) {
      await fill(dev.main.client, { from: made, to: size }, signal);
      made = size;
      await sleep(SETTLE_MS, undefined, { signal });
      const step = measure(dev.main, size);
      steps.push(step);
      if (!isJson) write(`${line(step)}\n`);
    }
    write(isJson ? `${JSON.stringify({ version: VERSION, steps })}\n` : `\n${table(steps)}\n`);
    return 0;
  } finally {
    for (const stop of stops.reverse()) await stop().catch(() => undefined);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Makes both instances with one application each, and waits until both have compared it: their caches are filled then. */
async function openInstances(
  { client, adminKubeconfig }: DevApi,
  { crds, repoURL }: { readonly crds: string; readonly repoURL: string },
  signal: AbortSignal,
): Promise<void> {
  await applyCrds(client, crds, signal);
  const namespaces = [OWN_NAMESPACE, ...OTHERS].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  await applyAll(client, namespaces, signal);
  const { server, ca = "" } = loadKubeconfig({ file: adminKubeconfig });
  const token = await tokenFor(client, signal);
  for (const way of WAYS) {
    const objects = instanceWith(way, { version: VERSION, server, caData: Buffer.from(ca).toString("base64"), token, repoURL });
    await applyAll(client, objects, signal);
  }
  for (const way of WAYS) await compared(client, way, signal);
}

async function compared(client: KubeClient, way: Way, signal: AbortSignal): Promise<void> {
  for (;;) {
    const at = { namespace: `bench-${way}`, name: "own" };
    const found = await client.get<KubeObject & { readonly status?: { readonly sync?: { readonly status?: string } } }>(
      APPLICATIONS,
      at,
      signal,
    );
    if (["Synced", "OutOfSync"].includes(found?.status?.sync?.status ?? "")) return;
    await sleep(500, undefined, { signal });
  }
}

function configMap(namespace: string, name: string, value: string): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data: { value } } as KubeObject;
}

async function fill(client: KubeClient, { from, to }: { readonly from: number; readonly to: number }, signal: AbortSignal): Promise<void> {
  let next = from;
  const value = "x".repeat(1_000);
  const work = async () => {
    for (let index = next++; index < to; index = next++)
      await client.create(CONFIG_MAPS, configMap(OTHERS[index % OTHERS.length] ?? "", `object-${index}`, value), signal);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

function measure({ node }: DevApi, objects: number): Step {
  const of = (way: Way, container: string): Memory => {
    const found = node?.processes().find((one) => one.namespace === `bench-${way}` && one.container === container);
    if (found === undefined) throw new Error(`${container} of ${way} does not run`);
    const mib = (bytes: number | undefined): number => Math.round((bytes ?? 0) / MIB);
    return { rss: mib(residentBytes(found.pid)), pss: mib(proportionalBytes(found.pid)) };
  };
  const controller = "argocd-application-controller";
  return { objects, shared: of("shared", controller), filtered: of("filtered", controller), filter: of("filtered", "cluster-filter") };
}

const text = ({ rss, pss }: Memory): string => `${rss} / ${pss}`;

function line({ objects, shared, filtered, filter }: Step): string {
  return `  ${objects} objects: shared ${text(shared)}, filtered ${text(filtered)}, filter ${text(filter)} MiB (RSS / PSS)`;
}

function table(steps: readonly Step[]): string {
  const rows = steps.map(
    ({ objects, shared, filtered, filter }) => `| ${objects} | ${text(shared)} | ${text(filtered)} | ${text(filter)} |`,
  );
  return ["| Objects of others (MiB: RSS / PSS) | controller, shared | controller, filtered | filter |", "|---|---|---|---|", ...rows].join(
    "\n",
  );
}
