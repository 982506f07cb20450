import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../src/runtime/kube/resource.ts";
import { type GitServer, startGitServer } from "../git-server/git-server.ts";
import { applyAll, applyCrds, typeOf } from "./apply.ts";
import { type DevApi, type DevCluster, startDevCluster } from "./dev-cluster.ts";
import { setCpuShare } from "./process-node/control.ts";
import { annotation, type Pod, podType } from "./process-node/pod.ts";
import type { Termination } from "./process-node/pod-status.ts";
import { readStat } from "./processes/proc.ts";
import { argoCdInstance } from "./testing/argo-cd-instance.ts";
import { until } from "./testing/until.ts";

interface PodWithStates extends Pod {
  readonly status: Pod["status"] & {
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly ready: boolean;
      readonly restartCount: number;
      readonly state: { readonly waiting?: { readonly reason: string } };
      readonly lastState: { readonly terminated?: Termination };
    }[];
  };
}

interface Application extends KubeObject {
  readonly status?: {
    readonly sync?: { readonly status?: string; readonly revision?: string };
    readonly health?: { readonly status?: string };
    readonly reconciledAt?: string;
    readonly conditions?: unknown;
  };
}

const repository = "team/shop";
const controller = "argocd-application-controller-0";
const applicationType = { group: "argoproj.io", version: "v1alpha1", plural: "applications", kind: "Application", namespaced: true };

describe("the development cluster", () => {
  const directory = mkdtempSync(join(tmpdir(), "dev-"));
  const signal = new AbortController().signal;
  let dev: DevCluster;
  let git: GitServer;

  const pods = async (namespace: string) => (await dev.main.client.listPage<PodWithStates>(podType, { namespace }, signal)).items;
  const pod = async (namespace: string, name: string) => await dev.main.client.get<PodWithStates>(podType, { namespace, name }, signal);
  const application = async (name: string) => await dev.main.client.get<Application>(applicationType, { namespace: "one", name }, signal);
  const isReady = (found: PodWithStates) =>
    found.status.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  const allReady = async (namespace: string, count: number) =>
    await until(
      `${count} ready pods in ${namespace}`,
      () => pods(namespace),
      (found) => found.length === count && found.every(isReady),
    );
  const pidOf = (podName: string) => dev.main.node?.processes().find((process) => process.pod === podName)?.pid;

  beforeAll(async () => {
    git = await startGitServer({ directory: join(directory, "git") });
    dev = await startDevCluster(
      { stateDir: join(directory, "state"), clusters: [{ name: "main" }, { name: "target" }], podsBehindProxy: true },
      signal,
    );
    await applyCrds(dev.main.client, join((await dev.argoCd("3.5.7", signal)).directory, "crds"), signal);
  }, 900_000);
  afterAll(async () => {
    await dev?.stop();
    await git?.stop();
    rmSync(directory, { recursive: true, force: true });
  }, 60_000);

  it("runs an Argo CD instance that deploys from Git to another cluster", async () => {
    const revision = await git.createRepository(repository, { "app/objects.yaml": deployment("web", 2) });
    await applyAll(dev.main.client, argoCdInstance("one", "3.5.7"), signal);
    await allReady("one", 3);
    const target = dev.apis.get("target") ?? dev.main;
    await applyAll(dev.main.client, [await clusterSecret(target), project, shop(git.repositoryUrl(repository))], signal);
    const synced = await until(
      "Synced and Healthy",
      () => application("shop"),
      (found) => found?.status?.sync?.status === "Synced" && found.status.health?.status === "Healthy",
    );
    expect(synced?.status?.sync?.revision).toBe(revision);
    const deployed = await target.client.listPage<PodWithStates>(podType, { namespace: "shop" }, signal);
    expect(deployed.items.map(isReady)).toEqual([true, true]);
  }, 120_000);

  it("restarts a killed process, and says how it ended", async () => {
    const before = pidOf(controller) ?? 0;
    process.kill(before, "SIGKILL");
    const found = await until(
      "the restart",
      () => pod("one", controller),
      (now) => now?.status.containerStatuses?.[0]?.restartCount === 1 && isReady(now),
    );
    expect(found?.status.containerStatuses?.[0]?.lastState.terminated).toMatchObject({ exitCode: 137, reason: "Error" });
    expect(pidOf(controller)).not.toBe(before);
  }, 120_000);

  it("keeps running processes when the node is restarted", async () => {
    const before = dev.main.node?.processes();
    await dev.main.restartNode(signal);
    await until(
      "the same processes",
      () => dev.main.node?.processes(),
      (found) => found?.length === 3,
    );
    expect(dev.main.node?.processes()).toEqual(before);
    await allReady("one", 3);
    await refreshed("shop");
    expect((await pod("one", controller))?.status.containerStatuses?.[0]?.restartCount).toBe(1);
  }, 120_000);

  it("can freeze a pod without ending it", async () => {
    const at = { namespace: "one", name: controller };
    await setCpuShare(dev.main.client, at, 0, signal);
    await until(
      "a stopped process",
      () => readStat(pidOf(controller) ?? 0)?.state,
      (state) => state === "T",
    );
    await setCpuShare(dev.main.client, at, 1, signal);
    await refreshed("shop");
  }, 120_000);

  it("can cut off one instance from its API server, and no other", async () => {
    const { faultProxy } = dev.main;
    await faultProxy.disturb("pod:one", { kind: "cut" });
    await expect(fetch(await dev.main.serverFor("pod:one"))).rejects.toThrow();
    await askRefresh("shop");
    // All others still get through.
    expect((await application("shop"))?.metadata.annotations).toHaveProperty("argocd.argoproj.io/refresh");
    await faultProxy.restore("pod:one");
    await refreshed("shop");
  }, 180_000);

  it("replaces a pod that is deleted and moves its Service along", async () => {
    const [old] = (await pods("one")).filter(({ metadata }) => metadata.name.startsWith("argocd-repo-server"));
    const oldPid = pidOf(old?.metadata.name ?? "") ?? 0;
    await dev.main.client.delete(podType, { namespace: "one", name: old?.metadata.name ?? "" }, {}, signal);
    await until(
      "the old pod gone",
      () => pods("one"),
      (found) => found.length === 3 && found.every(({ metadata }) => metadata.uid !== old?.metadata.uid) && found.every(isReady),
    );
    expect(readStat(oldPid)).toBeUndefined();
    const revision = await git.commit(repository, { "app/objects.yaml": deployment("web", 3) }, "Scale up");
    await askRefresh("shop");
    await until(
      "the new revision",
      () => application("shop"),
      (found) => found?.status?.sync?.revision === revision && found.status.health?.status === "Healthy",
    );
  }, 120_000);

  it("runs an unknown image without a process", async () => {
    const template = (name: string, annotations: object) => ({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name, namespace: "default" },
      spec: {
        backoffLimit: 0,
        template: { metadata: { annotations }, spec: { restartPolicy: "Never", containers: [{ name: "hook", image: "example/hook:1" }] } },
      },
    });
    await applyAll(dev.main.client, [template("good", {}), template("bad", { [annotation.exitCode]: "3" })], signal);
    const jobType = typeOf(template("", {}));
    const ended = async (name: string) =>
      (
        await dev.main.client.get<KubeObject & { readonly status?: { readonly succeeded?: number; readonly failed?: number } }>(
          jobType,
          { namespace: "default", name },
          signal,
        )
      )?.status;
    expect(
      (
        await until(
          "a job that succeeds",
          () => ended("good"),
          (status) => status?.succeeded === 1,
        )
      )?.failed,
    ).toBeUndefined();
    expect(
      (
        await until(
          "a job that fails",
          () => ended("bad"),
          (status) => status?.failed === 1,
        )
      )?.succeeded,
    ).toBeUndefined();
  }, 120_000);

  it("reports an image that cannot be pulled, and a process that uses too much memory", async () => {
    const single = (name: string, container: object) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default" },
      spec: { containers: [{ name: "main", ...container }] },
    });
    await applyAll(
      dev.main.client,
      [
        single("absent", { image: "example/argocd:v0.0.1" }),
        single("greedy", { image: "example/redis:8", resources: { limits: { memory: "1Mi" } } }),
      ],
      signal,
    );
    await until(
      "ImagePullBackOff",
      () => pod("default", "absent"),
      (found) => found?.status.containerStatuses?.[0]?.state.waiting?.reason === "ImagePullBackOff",
    );
    await until(
      "OOMKilled",
      () => pod("default", "greedy"),
      (found) => found?.status.containerStatuses?.[0]?.lastState.terminated?.reason === "OOMKilled",
    );
  }, 120_000);

  it("leaves nothing of a namespace that is deleted", async () => {
    const running = dev.main.node?.processes().filter(({ namespace }) => namespace === "one") ?? [];
    expect(running.length).toBe(3);
    await dev.main.client.delete(applicationType, { namespace: "one", name: "shop" }, {}, signal);
    await dev.main.client.delete(namespaceType, { namespace: "", name: "one" }, {}, signal);
    await until(
      "the namespace gone",
      () => dev.main.client.get(namespaceType, { namespace: "", name: "one" }, signal),
      (found) => found === undefined,
    );
    expect(running.map(({ pid }) => readStat(pid))).toEqual([undefined, undefined, undefined]);
  }, 120_000);

  it("starts again with its old state", async () => {
    const options = { stateDir: join(directory, "state"), clusters: [{ name: "main" }] };
    const before = dev.main.kubernetes.server;
    await dev.stop();
    dev = await startDevCluster(options, signal);
    expect(dev.main.kubernetes.server).toBe(before);
    await until(
      "the pod of before",
      () => pod("default", "greedy"),
      (found) => found !== undefined,
    );
  }, 120_000);

  async function askRefresh(name: string): Promise<void> {
    await dev.main.client.mergePatch(
      applicationType,
      { namespace: "one", name },
      { metadata: { annotations: { "argocd.argoproj.io/refresh": "normal" } } },
      signal,
    );
  }

  /** The controller works: it removes the annotation once it has compared. */
  async function refreshed(name: string): Promise<void> {
    await askRefresh(name);
    await until(
      "the refresh",
      () => application(name),
      (found) => found?.metadata.annotations?.["argocd.argoproj.io/refresh"] === undefined,
    );
  }
});

const namespaceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

const project = {
  apiVersion: "argoproj.io/v1alpha1",
  kind: "AppProject",
  metadata: { name: "shop", namespace: "one" },
  spec: {
    sourceRepos: ["*"],
    destinations: [{ name: "target", namespace: "*" }],
    clusterResourceWhitelist: [{ group: "", kind: "Namespace" }],
  },
};

function shop(repoURL: string): object {
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name: "shop", namespace: "one" },
    spec: {
      project: "shop",
      source: { repoURL, path: "app", targetRevision: "main" },
      destination: { name: "target", namespace: "shop" },
      syncPolicy: { automated: { prune: true }, syncOptions: ["CreateNamespace=true"] },
    },
  };
}

async function clusterSecret(target: DevApi): Promise<object> {
  const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");
  const { admin, ca } = target.kubernetes;
  const config = { tlsClientConfig: { caData: base64(ca), certData: base64(admin.cert), keyData: base64(admin.key) } };
  const labels = { "argocd.argoproj.io/secret-type": "cluster" };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "target", namespace: "one", labels },
    stringData: { name: "target", server: await target.serverFor("one"), config: JSON.stringify(config) },
  };
}

function deployment(name: string, replicas: number): string {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "example/web:1" }] } };
  return JSON.stringify({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template },
  });
}
