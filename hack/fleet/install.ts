import { stringify } from "yaml";
import type { InstallObject } from "../../src/cli/install/install-object.ts";
import { installObjects } from "../../src/cli/install/render.ts";
import { API_ACCOUNT, ENGINE_ACCOUNT } from "../../src/cli/install/roles.ts";
import { SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { type ResourceType, resourcePath } from "../../src/runtime/kube/resource.ts";

/** A cluster as an administrator reaches it while installing. */
export interface Cluster {
  readonly client: KubeClient;
  /** URL and CA (PEM; empty for the system's authorities) for the kubeconfigs of Argosy. */
  readonly server: string;
  readonly ca: string;
}

const TYPES: Readonly<Record<string, ResourceType>> = {
  Namespace: { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false },
  ServiceAccount: { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true },
  Secret: { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true },
  Role: { group: "rbac.authorization.k8s.io", version: "v1", plural: "roles", kind: "Role", namespaced: true },
  RoleBinding: { group: "rbac.authorization.k8s.io", version: "v1", plural: "rolebindings", kind: "RoleBinding", namespaced: true },
  ClusterRole: { group: "rbac.authorization.k8s.io", version: "v1", plural: "clusterroles", kind: "ClusterRole", namespaced: false },
  ClusterRoleBinding: {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    plural: "clusterrolebindings",
    kind: "ClusterRoleBinding",
    namespaced: false,
  },
  CustomResourceDefinition: {
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
  },
  PriorityLevelConfiguration: {
    group: "flowcontrol.apiserver.k8s.io",
    version: "v1",
    plural: "prioritylevelconfigurations",
    kind: "PriorityLevelConfiguration",
    namespaced: false,
  },
  FlowSchema: { group: "flowcontrol.apiserver.k8s.io", version: "v1", plural: "flowschemas", kind: "FlowSchema", namespaced: false },
  ValidatingAdmissionPolicy: {
    group: "admissionregistration.k8s.io",
    version: "v1",
    plural: "validatingadmissionpolicies",
    kind: "ValidatingAdmissionPolicy",
    namespaced: false,
  },
  ValidatingAdmissionPolicyBinding: {
    group: "admissionregistration.k8s.io",
    version: "v1",
    plural: "validatingadmissionpolicybindings",
    kind: "ValidatingAdmissionPolicyBinding",
    namespaced: false,
  },
};

/** Lifetime of Argosy's tokens, in seconds: a year, because nothing renews them in a development cluster. */
const TOKEN_SECONDS = 31_536_000;

/** Installs what the API cluster needs. Returns the kubeconfig of Argosy's own account there. */
export async function installApiCluster(cluster: Cluster, signal: AbortSignal): Promise<string> {
  const objects = installObjects("api");
  await applyObjects(cluster.client, objects, signal);
  const crds = objects.filter((object) => object.kind === "CustomResourceDefinition");
  await Promise.all(crds.map((crd) => established(cluster.client, crd.metadata.name, signal)));
  return kubeconfigOf(cluster, API_ACCOUNT, signal);
}

/**
 * Installs what a cluster that hosts instances needs, and stores the kubeconfig of Argosy's account there in a Secret
 * of the API cluster. Returns the Secret's `namespace/name`, for fleet.yaml.
 */
export async function installEngineCluster(
  api: Cluster,
  engine: Cluster & { readonly name: string },
  signal: AbortSignal,
): Promise<string> {
  await applyObjects(engine.client, installObjects("engine"), signal);
  const kubeconfig = await kubeconfigOf(engine, ENGINE_ACCOUNT, signal);
  const name = `engine-${engine.name}`;
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: SYSTEM_NAMESPACE }, stringData: { kubeconfig } };
  await applyObjects(api.client, [secret], signal);
  return `${SYSTEM_NAMESPACE}/${name}`;
}

/** Applies objects in order with server-side apply. */
export async function applyObjects(client: KubeClient, objects: readonly InstallObject[], signal: AbortSignal): Promise<void> {
  for (const object of objects) {
    const type = TYPES[object.kind];
    if (type === undefined) throw new Error(`no resource type for ${object.kind}`);
    await client.apply(type, object, { fieldManager: "argosy-install" }, signal);
  }
}

async function kubeconfigOf(cluster: Cluster, account: string, signal: AbortSignal): Promise<string> {
  const token = await tokenOf(cluster.client, account, signal);
  return renderKubeconfig({ server: cluster.server, ca: cluster.ca, user: account, token });
}

/** A token of one of Argosy's own accounts, or of another namespace's. */
export async function tokenOf(client: KubeClient, account: string, signal: AbortSignal, namespace = SYSTEM_NAMESPACE): Promise<string> {
  const type = TYPES["ServiceAccount"];
  if (type === undefined) throw new Error("no resource type for ServiceAccount");
  const path = resourcePath(type, { namespace, name: account, subresource: "token" });
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: TOKEN_SECONDS } };
  const { status } = await client.request<{ readonly status: { readonly token: string } }>(
    { method: "POST", path, body, idempotent: true },
    signal,
  );
  return status.token;
}

interface KubeconfigFacts {
  readonly server: string;
  readonly ca: string;
  readonly user: string;
  readonly token: string;
}

function renderKubeconfig({ server, ca, user, token }: KubeconfigFacts): string {
  const authority = ca === "" ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "cluster", cluster: { server, ...authority } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: "cluster", context: { cluster: "cluster", user } }],
    "current-context": "cluster",
  });
}

interface CrdStatus {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Waits until the API server serves a kind. */
async function established(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  const type = TYPES["CustomResourceDefinition"];
  if (type === undefined) throw new Error("no resource type for CustomResourceDefinition");
  for (;;) {
    const crd = await client.get<CrdStatus>(type, { namespace: "", name }, signal);
    if (crd?.status?.conditions?.some((condition) => condition.type === "Established" && condition.status === "True") === true) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    signal.throwIfAborted();
  }
}

const POLL_MS = 25;
