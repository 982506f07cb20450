import { applyAll } from "../../hack/dev-cluster/apply.ts";
import { argoCdInstance } from "../../hack/dev-cluster/testing/argo-cd-instance.ts";
import { FILTER_PORT, filterAddress } from "../../src/domain/filter-address.ts";
import type { InstanceId } from "../../src/domain/ids.ts";
import { renderFilter } from "../../src/instance-provisioner/manifests/filter.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { type ResourceType, resourcePath } from "../../src/runtime/kube/resource.ts";

/** How an instance enters the API cluster. Its namespace is named for it. */
export const WAYS = ["shared", "filtered"] as const;
export type Way = (typeof WAYS)[number];

/** The one namespace that both instances deploy to. */
export const OWN_NAMESPACE = "bench-own";

const RBAC = "rbac.authorization.k8s.io";
const ACCOUNT = { namespace: "default", name: "bench" };
const ACCOUNTS: ResourceType = { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true };
const ID = "bench" as InstanceId;

/** A token of an account that may do everything. */
export async function tokenFor(client: KubeClient, signal: AbortSignal): Promise<string> {
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" };
  const subjects = [{ kind: "ServiceAccount", ...ACCOUNT }];
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: ACCOUNT };
  await applyAll(
    client,
    [account, { apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding", metadata: { name: "bench" }, roleRef, subjects }],
    signal,
  );
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 86_400 } };
  const path = resourcePath(ACCOUNTS, { ...ACCOUNT, subresource: "token" });
  const { status } = await client.request<{ readonly status: { readonly token: string } }>({ method: "POST", path, body }, signal);
  return status.token;
}

interface Surroundings {
  readonly version: string;
  readonly server: string;
  readonly caData: string;
  readonly token: string;
  readonly repoURL: string;
}

/** The objects of an instance with its entry, its project and one application. */
export function instanceWith(way: Way, { version, server, caData, token, repoURL }: Surroundings): readonly object[] {
  const namespace = `bench-${way}`;
  const identity = { id: ID, name: way, namespace, pool: "bench", class: "bench" };
  const filter = renderFilter(identity, { image: "argosy:checkout", server, caData });
  const instance = argoCdInstance(namespace, version).map((object) =>
    way === "filtered" && isController(object) ? withFilter(object, filter) : object,
  );
  const proxyUrl = `http://${filterAddress(ID)}:${FILTER_PORT}`;
  const access = way === "filtered" ? { proxyUrl, tlsClientConfig: { insecure: true } } : { tlsClientConfig: { caData } };
  const labels = { "argocd.argoproj.io/secret-type": "cluster" };
  const destination = { server, namespace: OWN_NAMESPACE };
  return [
    ...instance,
    {
      ...{ apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "here", labels } },
      stringData: { name: "here", server, config: JSON.stringify({ bearerToken: token, ...access }) },
    },
    {
      ...{ apiVersion: "argoproj.io/v1alpha1", kind: "AppProject", metadata: { namespace, name: "own" } },
      spec: { sourceRepos: ["*"], destinations: [destination] },
    },
    {
      ...{ apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata: { namespace, name: "own" } },
      spec: { project: "own", source: { repoURL, path: "app", targetRevision: "main" }, destination },
    },
  ];
}

interface Workload {
  readonly kind: string;
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly object[]; readonly volumes?: readonly object[] } } };
}

function isController(object: object): object is Workload {
  return (object as { readonly kind?: string }).kind === "StatefulSet";
}

function withFilter({ spec, ...others }: Workload, { container, volume }: ReturnType<typeof renderFilter>): object {
  const { template } = spec;
  const { containers, volumes = [] } = template.spec;
  const [first] = containers as readonly { readonly securityContext?: object }[];
  // The instance's security, which the generator gives every container.
  const beside = { ...container, ...(first?.securityContext === undefined ? {} : { securityContext: first.securityContext }) };
  return {
    ...others,
    spec: {
      ...spec,
      template: { ...template, spec: { ...template.spec, containers: [...containers, beside], volumes: [...volumes, volume] } },
    },
  };
}
