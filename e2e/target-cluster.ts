import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSet } from "../hack/dev-cluster/build.ts";
import { type KubernetesCluster, startKubernetes } from "../hack/dev-cluster/kubernetes.ts";
import { openKube } from "../hack/fleet/connect.ts";
import { RefusedError } from "../src/domain/errors.ts";
import { systemClock } from "../src/runtime/clock.ts";
import type { KubeClient } from "../src/runtime/kube/client.ts";
import { createKubeClient } from "../src/runtime/kube/http.ts";
import { type KubeObject, type ResourceType, resourcePath } from "../src/runtime/kube/resource.ts";
import { systemRng } from "../src/runtime/rng.ts";
import { noMetrics } from "../src/telemetry/metrics.ts";
import { keepSecret } from "./secrets-in-use.ts";
import { TYPES, until } from "./world.ts";

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

/** Kinds that stories read on a target cluster, besides those of {@link TYPES}. */
export const TARGET_TYPES = {
  serviceAccount: { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true },
  clusterRole: { ...RBAC, plural: "clusterroles", kind: "ClusterRole", namespaced: false },
  clusterRoleBinding: { ...RBAC, plural: "clusterrolebindings", kind: "ClusterRoleBinding", namespaced: false },
} as const satisfies Readonly<Record<string, ResourceType>>;

/** A rule of a ClusterRole. */
interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** A user's cluster to deploy to: an API server with its controllers, started for one test file. */
export interface TargetCluster {
  readonly kubernetes: KubernetesCluster;
  readonly kube: KubeClient;
  namespace(name: string): Promise<void>;
  /** A token of a new account that may do everything. */
  account(name: string): Promise<string>;
  /** The same for one namespace only, which it may also read. */
  accountOf(name: string, namespace: string): Promise<string>;
  /** The same for an account with these rules in all namespaces. */
  accountWith(name: string, rules: readonly Rule[]): Promise<string>;
  /** Deletes the account. Resolves once the API server refuses its token, which it caches for seconds. */
  revoke(account: string, token: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startTargetCluster(signal: AbortSignal): Promise<TargetCluster> {
  const directory = mkdtempSync(join(tmpdir(), "argosy-target-"));
  const programs = await buildSet("kubernetes", {}, signal);
  const components = ["etcd", "kube-apiserver", "kube-controller-manager"] as const;
  const kubernetes = await startKubernetes({ name: "target", directory, programs, components, endsWithUs: true }, signal);
  const kube = openKube(kubernetes.kubeconfig);
  await keepSecret("the key of a target cluster's administrator", kubernetes.admin.key);
  const apply = (type: ResourceType, object: KubeObject) => kube.apply(type, object, { fieldManager: "owner" }, signal);
  const tokenOf = async (name: string): Promise<string> => {
    const metadata = { namespace: "default", name };
    await apply(TARGET_TYPES.serviceAccount, { apiVersion: "v1", kind: "ServiceAccount", metadata });
    const path = resourcePath(TARGET_TYPES.serviceAccount, { ...metadata, subresource: "token" });
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 86_400 } };
    const { status } = await kube.request<{ readonly status: { readonly token: string } }>({ method: "POST", path, body }, signal);
    return keepSecret(`a token of ${name} for a target cluster`, status.token);
  };
  const bind = async (account: string, role: string, namespace?: string): Promise<void> => {
    const type = namespace === undefined ? TARGET_TYPES.clusterRoleBinding : TYPES.roleBinding;
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: type.kind,
      metadata: { name: `${account}-${role}`, ...(namespace === undefined ? {} : { namespace }) },
      roleRef: { apiGroup: RBAC.group, kind: "ClusterRole", name: role },
      subjects: [{ kind: "ServiceAccount", name: account, namespace: "default" }],
    };
    await apply(type, binding);
  };
  return {
    kubernetes,
    kube,
    namespace: async (name) => void (await apply(TYPES.namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } })),
    async account(name) {
      await bind(name, "cluster-admin");
      return tokenOf(name);
    },
    async accountOf(name, namespace) {
      const rules = [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get"], resourceNames: [namespace] }];
      await apply(TARGET_TYPES.clusterRole, clusterRole(`read-${namespace}`, rules));
      await bind(name, `read-${namespace}`);
      await bind(name, "admin", namespace);
      return tokenOf(name);
    },
    async accountWith(name, rules) {
      await apply(TARGET_TYPES.clusterRole, clusterRole(`rights-of-${name}`, rules));
      await bind(name, `rights-of-${name}`);
      return tokenOf(name);
    },
    async revoke(account, token) {
      await kube.delete(TARGET_TYPES.serviceAccount, { namespace: "default", name: account }, {}, signal);
      const asAccount = createKubeClient({
        cluster: "target",
        credentials: { server: kubernetes.server, ca: kubernetes.ca, token: async () => token },
        clock: systemClock,
        rng: systemRng,
        metrics: noMetrics,
      });
      const isRefused = () =>
        // Any authenticated user may read this.
        asAccount.request({ method: "GET", path: "/version" }, signal).then(
          () => false,
          (error: unknown) => error instanceof RefusedError,
        );
      await until("the old token refused", isRefused, Boolean);
      await asAccount.close();
    },
    async stop() {
      await kube.close();
      await kubernetes.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const clusterRole = (name: string, rules: readonly Rule[]): KubeObject & { readonly rules: unknown } => ({
  ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" },
  metadata: { name },
  rules,
});
