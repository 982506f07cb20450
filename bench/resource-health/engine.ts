import { setTimeout as sleep } from "node:timers/promises";
import { applyAll, applyCrds } from "../../hack/dev-cluster/apply.ts";
import { argoCdInstance } from "../../hack/dev-cluster/testing/argo-cd-instance.ts";
import type { GitServer } from "../../hack/git-server/git-server.ts";
import { loadKubeconfig } from "../../src/runtime/kube/auth.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { type KubeObject, type ResourceType, resourcePath } from "../../src/runtime/kube/resource.ts";
import { APPLICATIONS } from "../world/kinds.ts";

/** Objects of each application: two whose health changes, one that is always healthy, one without a health. */
export const OBJECTS = 4;
const TARGET = "bench-objects";
const ACCOUNT = { namespace: "default", name: "bench" };
const RBAC = "rbac.authorization.k8s.io";
const CONTROLLER = "argocd-application-controller";
const SETTING = "ARGOCD_APPLICATION_CONTROLLER_PERSIST_RESOURCE_HEALTH";
const AT_ONCE = 16;
const POLL_MS = 200;
/** So seldom that no comparison by Argo CD itself falls into a step. */
const RESYNC = "5400s";

const AUTOSCALERS: ResourceType = {
  group: "autoscaling",
  version: "v2",
  plural: "horizontalpodautoscalers",
  kind: "HorizontalPodAutoscaler",
  namespaced: true,
};
const STATEFUL_SETS: ResourceType = { group: "apps", version: "v1", plural: "statefulsets", kind: "StatefulSet", namespaced: true };

export interface EngineOptions {
  readonly client: KubeClient;
  readonly kubeconfig: string;
  readonly crds: string;
  readonly git: GitServer;
  readonly count: number;
  readonly namespace: string;
  readonly version: string;
}

export interface Applications {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly names: readonly string[];
  create(signal: AbortSignal): Promise<void>;
}

/** An Argo CD instance with applications whose objects exist already: nothing is synced here. */
export async function openApplications(options: EngineOptions, signal: AbortSignal): Promise<Applications> {
  const { client, crds, git, count, namespace, version } = options;
  const names = Array.from({ length: count }, (_, index) => `app-${index + 1}`);
  const files = names.flatMap((name) => objectsOf(name).map((object, index) => [`${name}/${index}.json`, JSON.stringify(object)] as const));
  await git.createRepository("bench", Object.fromEntries(files));
  await applyCrds(client, crds, signal);
  await applyAll(client, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: TARGET } }], signal);
  await atOnce(names, async (name) => {
    await applyAll(
      client,
      objectsOf(name).map((object) => tracked(object, name)),
      signal,
    );
    for (const object of ["one", "other"] as const)
      await say(client, name, { object, isWell: true, message: "recommended size matches current size" }, signal);
  });
  const instance = argoCdInstance(namespace, version) as readonly (KubeObject & { readonly data?: object })[];
  await applyAll(
    client,
    instance.map((object) =>
      object.metadata.name === "argocd-cm" ? { ...object, data: { ...object.data, "timeout.reconciliation": RESYNC } } : object,
    ),
    signal,
  );
  await applyAll(client, await cluster(options, signal), signal);
  return {
    ...{ client, namespace, names },
    create: (abort) => atOnce(names, (name) => applyAll(client, [application(name, namespace, git.repositoryUrl("bench"))], abort)),
  };
}

/** Restarts the controller with the setting that keeps each object's health. */
export async function restartWith({ client, namespace }: Applications, signal: AbortSignal): Promise<void> {
  const at = { namespace, name: CONTROLLER };
  const found = await client.get<StatefulSet>(STATEFUL_SETS, at, signal);
  const [container] = found?.spec.template.spec.containers ?? [];
  const containers = [{ ...container, env: [...(container?.env ?? []), { name: SETTING, value: "true" }] }];
  await client.mergePatch(STATEFUL_SETS, at, { spec: { template: { spec: { containers } } } }, signal);
  for (;;) {
    const { metadata, status } = (await client.get<StatefulSet>(STATEFUL_SETS, at, signal)) ?? {};
    const isSeen = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? Number.POSITIVE_INFINITY);
    if (isSeen && status?.updatedReplicas === 1 && status.readyReplicas === 1) return;
    await sleep(POLL_MS, undefined, { signal });
  }
}

interface StatefulSet extends KubeObject {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly env: readonly object[] }[] } } };
  readonly status?: { readonly observedGeneration?: number; readonly updatedReplicas?: number; readonly readyReplicas?: number };
}

export function refreshAll({ client, namespace, names }: Applications, signal: AbortSignal): Promise<void> {
  const patch = { metadata: { annotations: { "argocd.argoproj.io/refresh": "normal" } } };
  return atOnce(names, (name) => client.mergePatch(APPLICATIONS, { namespace, name }, patch, signal));
}

/** The health that one of the two changing objects reports. */
export interface Saying {
  readonly object: "one" | "other";
  readonly isWell: boolean;
  readonly message: string;
}

/** Lets this object of each application report this. */
export function sayOfAll({ client, names }: Applications, saying: Saying, signal: AbortSignal): Promise<void> {
  return atOnce(names, (name) => say(client, name, saying, signal));
}

function say(client: KubeClient, application: string, { object, isWell, message }: Saying, signal: AbortSignal): Promise<unknown> {
  const condition = isWell
    ? { type: "AbleToScale", status: "True", reason: "ReadyForNewScale" }
    : { type: "ScalingActive", status: "False", reason: "FailedGetPodsMetric" };
  const status = {
    ...{ currentReplicas: 1, desiredReplicas: 1 },
    conditions: [{ ...condition, message, lastTransitionTime: new Date().toISOString() }],
  };
  const at = { namespace: TARGET, name: `${application}-${object}`, subresource: "status" };
  return client.mergePatch(AUTOSCALERS, at, { status }, signal);
}

async function atOnce(names: readonly string[], work: (name: string) => Promise<unknown>): Promise<void> {
  const left = [...names];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let name = left.pop(); name !== undefined; name = left.pop()) await work(name);
    }),
  );
}

function objectsOf(name: string): readonly KubeObject[] {
  const metadata = { name, namespace: TARGET };
  const metrics = [
    { type: "Pods", pods: { metric: { name: "requests-per-second" }, target: { type: "AverageValue", averageValue: "1k" } } },
  ];
  const autoscalers = ["one", "other"].map((object) => ({
    ...{ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata: { ...metadata, name: `${name}-${object}` } },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: `${name}-${object}` },
      minReplicas: 1,
      maxReplicas: 3,
      metrics,
    },
  }));
  const ports = [{ port: 80, protocol: "TCP", targetPort: 80 }];
  return [
    ...autoscalers,
    { apiVersion: "v1", kind: "Service", metadata, spec: { selector: { app: name }, ports } },
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { name } },
  ] as unknown as readonly KubeObject[];
}

function tracked(object: KubeObject, application: string): KubeObject {
  const group = object.apiVersion?.includes("/") ? (object.apiVersion.split("/")[0] ?? "") : "";
  const id = `${application}:${group}/${object.kind}:${TARGET}/${object.metadata.name}`;
  return { ...object, metadata: { ...object.metadata, annotations: { "argocd.argoproj.io/tracking-id": id } } };
}

async function cluster({ client, kubeconfig, namespace }: EngineOptions, signal: AbortSignal): Promise<readonly object[]> {
  const subjects = [{ kind: "ServiceAccount", ...ACCOUNT }];
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" };
  await applyAll(
    client,
    [
      { apiVersion: "v1", kind: "ServiceAccount", metadata: ACCOUNT },
      { apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding", metadata: { name: "bench" }, roleRef, subjects },
    ],
    signal,
  );
  const path = resourcePath(
    { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true },
    { ...ACCOUNT, subresource: "token" },
  );
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 86_400 } };
  const { status } = await client.request<{ readonly status: { readonly token: string } }>({ method: "POST", path, body }, signal);
  const { server, ca = "" } = loadKubeconfig({ file: kubeconfig });
  const config = JSON.stringify({ bearerToken: status.token, tlsClientConfig: { caData: Buffer.from(ca).toString("base64") } });
  const metadata = { namespace, name: "here", labels: { "argocd.argoproj.io/secret-type": "cluster" } };
  return [
    { apiVersion: "v1", kind: "Secret", metadata, stringData: { name: "here", server, config } },
    {
      ...{ apiVersion: "argoproj.io/v1alpha1", kind: "AppProject", metadata: { namespace, name: "default" } },
      spec: { sourceRepos: ["*"], destinations: [{ server: "*", namespace: "*", name: "*" }] },
    },
  ];
}

function application(name: string, namespace: string, repoURL: string): object {
  return {
    ...{ apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata: { namespace, name } },
    spec: {
      ...{ project: "default", source: { repoURL, path: name, targetRevision: "main" } },
      destination: { name: "here", namespace: TARGET },
    },
  };
}
