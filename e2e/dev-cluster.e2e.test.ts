import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DevCluster, startDevCluster } from "../hack/dev-cluster/dev-cluster.ts";
import { setCpuShare } from "../hack/dev-cluster/process-node/control.ts";
import { annotation, type Pod, podType } from "../hack/dev-cluster/process-node/pod.ts";
import type { Termination } from "../hack/dev-cluster/process-node/pod-status.ts";
import { applyAll, applyCrds, typeOf } from "../hack/dev-cluster/testing/apply.ts";
import { argoCdInstance } from "../hack/dev-cluster/testing/argo-cd-instance.ts";
import { until } from "../hack/dev-cluster/testing/until.ts";
import { type GitServer, startGitServer } from "../hack/git-server/git-server.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";

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
  const isReady = (found: PodWithStates) => found.status.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  const allReady = async (namespace: string, count: number) =>
    await until(`${count} ready pods in ${namespace}`, () => pods(namespace), (found) => found.length === count && found.every(isReady));
  const pidOf = (podName: string) => dev.main.node?.processes().find((process) => process.pod === podName)?.pid;

  beforeAll(async () => {
    git = await startGitServer({ directory: join(directory, "git") });
    dev = await startDevCluster({ stateDir: join(directory, "state"), clusters: [{ name: "main" }, { name: "target" }], podsBehindProxy: true }, signal);
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
    await dev.target(signal);
    await applyAll(dev.main.client, [...(await destination(dev)), project, shop(git.repositoryUrl(repository))], signal);
    const synced = await until("Synced and Healthy", () => application("shop"), (found) => found?.status?.sync?.status === "Synced" && found.status.health?.status === "Healthy");
    expect(synced?.status?.sync?.revision).toBe(revision);
    const deployed = await dev.apis.get("target")?.client.listPage<PodWithStates>(podType, { namespace: "shop" }, signal);
    expect(deployed?.items.map(isReady)).toEqual([true, true]);
  }, 120_000);
});
