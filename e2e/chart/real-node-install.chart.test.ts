import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingForRealNode } from "../../hack/dev-cluster/real-node/requirements.ts";
import { applyDemo, DEMO, DEMO_FILES, isDone, readDemo } from "../../hack/fleet/demo.ts";
import { SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import { ROLES } from "../../src/domain/role.ts";
import { configMapFile, IS_LONG, until } from "../world.ts";
import { imageOfCheckout } from "./argosy-image.ts";
import { CHART, type ChartCluster, hostOf, imageValues, RELEASE, startChartCluster } from "./chart-cluster.ts";
import { commandInPod } from "./command-in-pod.ts";
import { reachedFrom, removePolicyRules, type Target } from "./flows.ts";
import { isReady, type Pod, podsOf } from "./pods.ts";
import { readUsage } from "./usage.ts";

const { signal } = new AbortController();
const missing = missingForRealNode();
const found = missing === undefined ? await imageOfCheckout(signal) : { skip: `${missing.why}. ${missing.remedy}` };
if ("skip" in found) process.stdout.write(`chart: tests on a real node are skipped: ${found.skip}\n`);

/** How long what is installed may take to be there, in ms. Far more than it takes. */
const DEADLINE_MS = 6 * 60_000;
/** After so long, in ms, what an installation takes is read: caches are filled then. Nothing is asserted of it. */
const QUIET_MS = 5 * 60_000;
/** What an uninstall leaves, as helm lists it. */
const KEPT = [
  "[CustomResourceDefinition] gitopsdeployments.managed-gitops.redhat.com",
  "[Namespace] argosy-accounts",
  "[ClusterRole] argosy-instance-reader",
  "[Secret] argosy-api-tls",
  "[Secret] argosy-encryption",
  "[Secret] argosy-postgresql",
];
const say = (text: string): void => void process.stdout.write(`chart: ${text}\n`);

interface Instance {
  readonly name: string;
  readonly namespace: string;
  readonly state: string;
}

describe.skipIf("skip" in found)("an installation by helm", () => {
  let cluster: ChartCluster;
  let values: string;
  beforeAll(async () => {
    if ("skip" in found) return;
    cluster = await startChartCluster({ nodes: 2, images: [found.image] }, signal);
    values = cluster.valuesFile("values", { image: imageValues(found.image) });
  });
  afterAll(() => cluster?.stop());

  const components = (component: string) =>
    podsOf(cluster, { namespace: SYSTEM_NAMESPACE, labels: `app.kubernetes.io/component=${component}` }, signal);
  const { tell, ask } = commandInPod(() => cluster);
  const instances = () => ask<readonly Instance[]>("get", "instances");

  interface Workspace {
    readonly namespace: string;
    readonly units: readonly { readonly instance: string | null }[];
  }
  const instancesOfWorkspaces = async (): Promise<ReadonlyMap<string, string | null | undefined>> =>
    new Map((await ask<readonly Workspace[]>("get", "workspaces")).map(({ namespace, units }) => [namespace, units[0]?.instance]));

  it("is there, with every pod ready, and passes its test", async () => {
    const began = performance.now();
    const install = await cluster.helm(["install", RELEASE, CHART, "--values", values, "--wait", "--timeout", "6m"]);
    expect(install).toMatchObject({ code: 0, out: expect.stringContaining("WARNING: postgresql.evaluation is true") });
    say(`helm install took ${seconds(began)}`);
    for (const role of ROLES) {
      const pods = await components(role);
      expect({ role, ready: pods.filter(isReady).length }).toEqual({ role, ready: 2 });
    }
    const test = await cluster.helm(["test", RELEASE, "--logs", "--timeout", "6m"]);
    expect(test).toMatchObject({ code: 0, out: expect.stringMatching(/all \d+ checks passed/) });
    say(`and with helm test ${seconds(began)}`);
  });

  it("serves three workspaces on two instances", async () => {
    const began = performance.now();
    await cluster.git.createRepository("sample", DEMO_FILES);
    await applyDemo(cluster.api.client, cluster.git.repositoryUrl("sample"), signal);
    await until(
      "the demo Synced and Healthy",
      () => readDemo(cluster.api.client, signal),
      (states) => states.length === DEMO.length && states.every(isDone),
      DEADLINE_MS,
    );
    say(`six deployments of three workspaces Synced and Healthy after ${seconds(began)}`);
    expect((await instances()).map(({ state }) => state)).toEqual(["ACTIVE", "ACTIVE"]);
    // By chance all three may be on one: then one of them is moved.
    const before = await instancesOfWorkspaces();
    if (new Set(before.values()).size === 1) {
      const [only] = before.values();
      const other = (await instances()).find(({ name }) => name !== only)?.name ?? "";
      await tell("move", "demo-cleo", "--to", other, "--reason", "two instances");
    }
    expect(new Set((await instancesOfWorkspaces()).values()).size).toBe(2);
    expect((await readDemo(cluster.api.client, signal)).filter((state) => !isDone(state))).toEqual([]);
  });

  it.runIf(IS_LONG)("says what each pod takes after five minutes", async () => {
    const began = performance.now();
    await until(
      "five minutes later",
      async () => performance.now() - began,
      (ms) => ms > QUIET_MS,
      2 * QUIET_MS,
    );
    for (const { namespace, name, milliCpu, memoryMiB } of await readUsage(cluster))
      say(`${namespace}/${name}: ${milliCpu.toFixed(1)} thousandths of a core, ${memoryMiB.toFixed(0)} MiB`);
  });

  it("runs nothing that the standard `restricted` forbids", async () => {
    for (const namespace of [SYSTEM_NAMESPACE, ...(await instances()).map((instance) => instance.namespace)]) {
      const label = "pod-security.kubernetes.io/enforce=restricted";
      // The API server holds the pods that are there against the label, and warns of each that it forbids.
      const said = await cluster.kubectl(["label", "--dry-run=server", "--overwrite", "namespace", namespace, label]);
      expect(said).not.toContain("violate");
      expect(await cluster.kubectl(["get", "namespace", namespace, "-o", "jsonpath={.metadata.labels}"])).toContain(
        'enforce":"restricted"',
      );
      expect((await podsOf(cluster, { namespace }, signal)).length).toBeGreaterThan(0);
    }
  });

  it("lets through the flows of its table and no other", async () => {
    const [one, other] = (await instances()).map(({ namespace }) => namespace);
    const instancePod = async (namespace: string | undefined, name: string) =>
      (await podsOf(cluster, { namespace: namespace ?? "", labels: `app.kubernetes.io/name=${name}` }, signal))[0];
    const firstOf = async (component: string) => (await components(component))[0];
    const names = await podsOf(cluster, { namespace: "kube-system", labels: "k8s-app=kube-dns" }, signal);
    const at = async (name: string, port: number, pod: Promise<Pod | undefined>): Promise<Target> => ({
      ...{ name, port },
      host: (await pod)?.status?.podIP ?? "",
    });
    const addresses = (await cluster.kubectl(["get", "nodes", "-o", "jsonpath={.items[*].status.addresses[0].address}"])).split(" ");
    const nodes = addresses.map((host, index): Target => ({ name: `kubelet of node-${index + 1}`, host, port: 10_250 }));
    const targets: readonly Target[] = [
      { name: "name server", host: names[0]?.status?.podIP ?? "", port: 53 },
      { name: "Kubernetes", host: cluster.apiServers[0] ?? "", port: 443 },
      { name: "Git", host: hostOf(cluster.git), port: cluster.git.port },
      await at("PostgreSQL", 5432, firstOf("postgresql")),
      await at("REST", 8080, firstOf("api")),
      await at("metrics of Argosy", 8081, firstOf("scheduler")),
      await at("controller's metrics", 8082, instancePod(one, "argocd-application-controller")),
      await at("repo-server", 8081, instancePod(one, "argocd-repo-server")),
      await at("repo-server's metrics", 8084, instancePod(one, "argocd-repo-server")),
      await at("redis", 6379, instancePod(one, "argocd-redis")),
      ...nodes,
    ];
    // A pod reaches itself, and its own node, whatever policies say: that is so in every cluster.
    const reached = async (pod: Pod | undefined): Promise<readonly string[]> => {
      const { podIP = "", hostIP } = pod?.status ?? {};
      const others = targets.filter(({ host }) => host !== podIP && host !== hostIP);
      return reachedFrom(podIP, others, signal);
    };
    const base = ["name server", "Kubernetes", "PostgreSQL"];
    const metrics = ["controller's metrics", "repo-server's metrics"];
    const expected: Readonly<Record<string, readonly string[]>> = {
      workspace: [...base, "Git"],
      scheduler: [...base, ...metrics],
      reconciler: [...base, "Git"],
      provisioner: base,
      health: [...base, ...metrics],
      api: [...base, ...metrics],
      postgresql: [],
    };
    const rowsOf = async (pods: Readonly<Record<string, Promise<Pod | undefined>>>) =>
      Object.fromEntries(await Promise.all(Object.entries(pods).map(async ([name, pod]) => [name, await reached(await pod)] as const)));
    const rows = await rowsOf(Object.fromEntries(Object.keys(expected).map((component) => [component, firstOf(component)])));
    expect(sortedRows(rows)).toEqual(sortedRows(expected));
    const fromInstances = await rowsOf({
      controller: instancePod(other, "argocd-application-controller"),
      "repo-server": instancePod(other, "argocd-repo-server"),
      redis: instancePod(other, "argocd-redis"),
    });
    expect(sortedRows(fromInstances)).toEqual(
      sortedRows({ controller: ["name server", "Kubernetes", "Git"], "repo-server": ["name server", "Git"], redis: [] }),
    );
    for (const [from, reached] of Object.entries({ ...rows, ...fromInstances })) say(`${from} reaches ${reached.join(", ") || "nothing"}`);
  });

  it("finds by a connection whether its policies are enforced", async () => {
    /** What it says of policies. It ends with an error where a check fails, and says the same. */
    const saysOfPolicies = async (): Promise<string> => {
      const said = await tell("doctor", "-o", "json").catch((error: Error) => error.message);
      return said.match(/\{[^{}]*"network policies"[^{}]*\}/)?.[0] ?? said;
    };
    const untilSays = (what: RegExp, read = saysOfPolicies) =>
      until(`the doctor's word on policies: ${what}`, read, (said) => what.test(said), DEADLINE_MS);
    await untilSays(/"enforced on here/);
    await untilSays(/"not enforced on here: \S+ took a connection that its policy refuses/, async () => {
      await removePolicyRules(cluster, signal);
      return saysOfPolicies();
    });
    await untilSays(/"enforced on here/);
  });

  it("goes, and leaves what users deployed and instances that work on", async () => {
    expect(await tell("export")).toContain("kind: Application");
    const uninstall = await cluster.helm(["uninstall", RELEASE, "--wait"]);
    expect(uninstall).toMatchObject({ code: 0, out: expect.stringContaining("These resources were kept due to the resource policy") });
    for (const kept of KEPT) expect(uninstall.out).toContain(kept);
    // Helm waits for Deployments, and not for their pods, which answer what is under way first.
    await until(
      "no pod but that of the test",
      () => cluster.kubectl(["get", "pods", "--namespace", SYSTEM_NAMESPACE, "-o", "name"]),
      (names) => names.trim() === "pod/argosy-doctor",
    );
    expect((await readDemo(cluster.api.client, signal)).filter(isDone)).toHaveLength(DEMO.length);

    await cluster.git.commit("sample", { "settings/config.yaml": configMapFile("settings", { colour: "blue" }) }, "without Argosy");
    const refresh = ["annotate", "applications.argoproj.io", "--all", "--all-namespaces", "argocd.argoproj.io/refresh=normal"];
    await cluster.kubectl(refresh);
    await until(
      "what was pushed after Argosy had gone",
      () => cluster.kubectl(["get", "configmap", "settings", "--namespace", "demo-anna", "-o", "jsonpath={.data.colour}"]),
      (colour) => colour === "blue",
      DEADLINE_MS,
    );
  });

  it("comes back, and goes on where it ended", async () => {
    const install = await cluster.helm(["install", RELEASE, CHART, "--values", values, "--wait", "--timeout", "6m"]);
    expect(install).toMatchObject({ code: 0 });
    const revision = (await cluster.git.commit("sample", { "README.md": "back again\n" }, "with Argosy again")).trim();
    await until(
      "the last push in every user's status",
      async () => {
        await cluster.kubectl([
          "annotate",
          "--overwrite",
          "gitopsdeployments",
          "--all",
          "--all-namespaces",
          `argosy.dev/refreshed-at=${revision}`,
        ]);
        return cluster.kubectl(["get", "gitopsdeployments", "--all-namespaces", "-o", "jsonpath={.items[*].status.sync.revision}"]);
      },
      (revisions) => revisions.split(" ").every((each) => each === revision),
      DEADLINE_MS,
    );
  });
});

function seconds(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}

function sortedRows(rows: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(rows).map(([from, reached]) => [from, reached.toSorted()]));
}
