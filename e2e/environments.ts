import { stringify } from "yaml";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { TARGET_TYPES, type TargetCluster } from "./target-cluster.ts";
import { conditionOf, type DeploymentResource, TYPES, until, type Workspace, type World } from "./world.ts";

export const ENVIRONMENT: ResourceType = {
  group: "managed-gitops.redhat.com",
  version: "v1alpha1",
  plural: "gitopsdeploymentmanagedenvironments",
  kind: "GitOpsDeploymentManagedEnvironment",
  namespaced: true,
};
export const CONNECTED = "ConnectionInitializationSucceeded";

export interface Access {
  readonly token?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** A cluster entry of an instance, as Argo CD reads it. */
export interface Entry {
  readonly server: string;
  /** Empty where the entry has a certificate instead. */
  readonly token: string;
}

type SecretObject = KubeObject & { readonly data?: Readonly<Record<string, string>> };

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const plain = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString();

type Parts = () => { readonly world: World; readonly target: TargetCluster };

/** What users do about environments on their cluster. An environment is called `prod` by default. */
export function playEnvironments(parts: Parts) {
  const kube = () => parts().world.kube;
  const signal = () => parts().world.signal;
  const server = () => parts().target.kubernetes.server;
  const readEnvironment = (namespace: string, name = "prod") => kube().get<DeploymentResource>(ENVIRONMENT, { namespace, name }, signal());
  return {
    readEnvironment,
    putSecret: (namespace: string, access: Access, over: { readonly name?: string; readonly server?: string } = {}) =>
      kube().apply(
        TYPES.secret,
        {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { namespace, name: `${over.name ?? "prod"}-creds` },
          type: "managed-gitops.redhat.com/managed-environment",
          stringData: { kubeconfig: kubeconfig(access, { server: over.server ?? server(), ca: parts().target.kubernetes.ca }) },
        } as KubeObject,
        { fieldManager: "user" },
        signal(),
      ),
    putEnvironment: (namespace: string, spec: Readonly<Record<string, unknown>> = {}, name = "prod") =>
      kube().apply(
        ENVIRONMENT,
        {
          apiVersion: "managed-gitops.redhat.com/v1alpha1",
          kind: ENVIRONMENT.kind,
          metadata: { namespace, name },
          spec: { apiURL: server(), credentialsSecret: `${name}-creds`, allowInsecureSkipTLSVerify: false, ...spec },
        } as KubeObject,
        { fieldManager: "user" },
        signal(),
      ),
    saysOfEnvironment: (namespace: string, status: string, reason: string, name = "prod") =>
      until(
        `environment ${name} of ${namespace}: ${status} ${reason}`,
        () => readEnvironment(namespace, name),
        (resource) => {
          const condition = conditionOf(resource, CONNECTED);
          const isAbout = resource?.status?.observedGeneration === resource?.metadata.generation;
          return condition?.status === status && condition.reason === reason && isAbout;
        },
      ),
    readyEnvironment: (namespace: string, name = "prod") =>
      until(
        `environment ${name} of ${namespace} is ready`,
        () => readEnvironment(namespace, name),
        (resource) => conditionOf(resource, "Ready")?.status === "True",
      ),
    /** Deploys the directory of the deployment's name from the repository of the namespace's name. */
    async deploy(
      { namespace }: Pick<Workspace, "namespace">,
      name: string,
      destination?: Readonly<Record<string, string>>,
      finalizers: readonly string[] = [],
    ): Promise<void> {
      const { world } = parts();
      const source = { repoURL: world.git.url(namespace), path: name, targetRevision: "main" };
      const resource = {
        apiVersion: "managed-gitops.redhat.com/v1alpha1",
        kind: "GitOpsDeployment",
        metadata: { name, namespace, finalizers },
        spec: { source, ...(destination === undefined ? {} : { destination }), type: "automated" },
      };
      await kube().apply(TYPES.deployment, resource, { fieldManager: "user" }, signal());
    },
  };
}

/** What happened to it, on the cluster and on instances. */
export function observeEnvironments(parts: Parts) {
  const kube = () => parts().world.kube;
  const signal = () => parts().world.signal;
  return {
    /** A ConfigMap of the cluster. */
    deployed: (name: string, namespace = "web") => parts().target.kube.get<SecretObject>(TYPES.configMap, { namespace, name }, signal()),
    /** Entries of all instances for environments on the cluster. */
    async entries(): Promise<readonly Entry[]> {
      const page = await kube().listPage<SecretObject>(TYPES.secret, { labelSelector: "argocd.argoproj.io/secret-type=cluster" }, signal());
      return page.items
        .map(({ data }) => ({
          server: plain(data?.["server"]),
          ...(JSON.parse(plain(data?.["config"])) as { readonly bearerToken?: string }),
        }))
        .filter((entry) => entry.server.startsWith(`${parts().target.kubernetes.server}?managedEnvironment=`))
        .map((entry) => ({ server: entry.server, token: entry.bearerToken ?? "" }));
    },
    /** Everything of Argosy's own on the cluster, as `Kind namespace/name`. */
    async oursOnTarget(): Promise<readonly string[]> {
      const labelSelector = "app.kubernetes.io/managed-by=argosy";
      const types = [
        TARGET_TYPES.serviceAccount,
        TARGET_TYPES.clusterRole,
        TARGET_TYPES.clusterRoleBinding,
        TYPES.secret,
        TYPES.roleBinding,
      ];
      const pages = await Promise.all(types.map((type) => parts().target.kube.listPage<KubeObject>(type, { labelSelector }, signal())));
      return pages.flatMap((page, index) =>
        page.items.map(({ metadata }) => `${types[index]?.kind} ${metadata.namespace ?? ""}/${metadata.name}`),
      );
    },
  };
}

/** The kubeconfig that its owner got for the cluster, after another context that comes first. */
function kubeconfig({ token, certificate }: Access, cluster: { readonly server: string; readonly ca: string }): string {
  const user = certificate
    ? { "client-certificate-data": base64(certificate.cert), "client-key-data": base64(certificate.key) }
    : { token: token ?? "" };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "other", cluster: { server: "https://other.example" } },
      { name: "c", cluster: { server: cluster.server, "certificate-authority-data": base64(cluster.ca) } },
    ],
    users: [{ name: "u", user }],
    contexts: [
      { name: "other", context: { cluster: "other", user: "u" } },
      { name: "x", context: { cluster: "c", user: "u" } },
    ],
    "current-context": "other",
  });
}
