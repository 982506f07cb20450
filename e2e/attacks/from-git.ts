import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import { TARGET_TYPES } from "../target-cluster.ts";
import { conditionOf, type DeploymentResource, TYPES, until, type World } from "../world.ts";
import type { Scene } from "./scene.ts";

/** An object that somebody renders from Git and must not get. */
export interface Manifest {
  readonly type: ResourceType;
  readonly object: KubeObject;
  /** What the user reads. Of a kind that nobody deploys it says so before any project or account of the user's is asked. */
  readonly reported: string;
}

const RBAC = "rbac.authorization.k8s.io";
const GITOPS_API = "managed-gitops.redhat.com/v1alpha1";

/** What people try to get by a commit, by the attack's name. */
export const MANIFESTS: Readonly<Record<string, (scene: Scene, world: World) => Manifest>> = {
  "an object of another workspace": ({ victim }) => configMap({ namespace: victim.workspace.namespace, name: "home" }),
  "an object beside the accounts": ({ victim }) => configMap({ namespace: victim.account.namespace, name: "attack" }),
  "a token of another workspace's account": ({ victim }) => ({
    type: TYPES.secret,
    object: {
      ...{ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/service-account-token" },
      metadata: {
        namespace: victim.account.namespace,
        name: "attack-token",
        annotations: { "kubernetes.io/service-account.name": victim.account.name },
      },
    } as KubeObject,
    reported: `namespace ${HIDDEN} is not permitted`,
  }),
  "a namespace": () => ({
    type: TYPES.namespace,
    object: { apiVersion: "v1", kind: "Namespace", metadata: { name: "attacks-new" } },
    reported: "namespaces are not permitted",
  }),
  "rights on the whole cluster": ({ attacker: { workspace } }) => ({
    type: TARGET_TYPES.clusterRoleBinding,
    object: binding("ClusterRoleBinding", { name: "attack-everything" }, { namespace: workspace.namespace, name: "person-edit" }),
    reported: "clusterrolebindings of rbac.authorization.k8s.io are not permitted",
  }),
  "more rights in its own namespace": ({ attacker: { workspace, account } }) => ({
    type: TYPES.roleBinding,
    object: binding("RoleBinding", { namespace: workspace.namespace, name: "attack-more" }, account),
    reported: "rolebindings of rbac.authorization.k8s.io are not permitted",
  }),
  "an Application beside the others of its instance": ({ instanceNamespace, victim }, world) => ({
    ...application(instanceNamespace, victim.project, world),
    reported: "Resource argoproj.io/Application attack is excluded in the settings",
  }),
  "an Application in its own namespace": ({ attacker: { workspace }, victim }, world) => ({
    ...application(workspace.namespace, victim.project, world),
    reported: "Resource argoproj.io/Application attack is excluded in the settings",
  }),
  "a project that allows everything": ({ instanceNamespace }) => ({
    type: TYPES.project,
    object: {
      ...{ apiVersion: "argoproj.io/v1alpha1", kind: "AppProject", metadata: { namespace: instanceNamespace, name: "attack" } },
      spec: { sourceRepos: ["*"], destinations: [{ server: "*", namespace: "*" }] },
    } as KubeObject,
    reported: "Resource argoproj.io/AppProject attack is excluded in the settings",
  }),
  "a cluster of its instance": ({ instanceNamespace }) => ({
    type: TYPES.secret,
    object: {
      ...{ apiVersion: "v1", kind: "Secret", stringData: { name: "attack", server: "https://cluster.example", config: "{}" } },
      metadata: { namespace: instanceNamespace, name: "attack", labels: { "argocd.argoproj.io/secret-type": "cluster" } },
    } as KubeObject,
    reported: `namespace ${HIDDEN} is not permitted`,
  }),
  "a deployment of its own": ({ attacker: { workspace } }) => ({
    type: TYPES.deployment,
    object: {
      ...{ apiVersion: GITOPS_API, kind: "GitOpsDeployment", metadata: { namespace: workspace.namespace, name: "attack-second" } },
      spec: { source: { repoURL: "https://git.example/x.git", path: "x", targetRevision: "main" }, type: "automated" },
    } as KubeObject,
    reported: "gitopsdeployments of managed-gitops.redhat.com are not permitted",
  }),
};

/** Stands in messages for a name that users must not read. */
const HIDDEN = "…";

function configMap(metadata: { readonly namespace: string; readonly name: string }): Manifest {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { safe: "no" } } as KubeObject;
  const shown = metadata.namespace.startsWith("argosy-") ? HIDDEN : metadata.namespace;
  return { type: TYPES.configMap, object, reported: `namespace ${shown} is not permitted` };
}

function binding(
  kind: string,
  metadata: KubeObject["metadata"],
  subject: { readonly namespace: string; readonly name: string },
): KubeObject {
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" };
  return { apiVersion: `${RBAC}/v1`, kind, metadata, roleRef, subjects: [{ kind: "ServiceAccount", ...subject }] } as KubeObject;
}

function application(namespace: string, project: string, world: World): Pick<Manifest, "type" | "object"> {
  const source = { repoURL: world.git.url("attacks-home"), path: "home", targetRevision: "main" };
  const destination = { server: world.kube.server, namespace: "kube-system" };
  const spec = { project, source, destination, syncPolicy: { automated: {} } };
  const head = { apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata: { namespace, name: "attack" } };
  return { type: TYPES.application, object: { ...head, spec } as KubeObject };
}

/** Everything that a deployment's user reads about it, one complaint per line. */
export function reportedOf(resource: DeploymentResource | undefined): string {
  const {
    conditions = [],
    operationState,
    sync,
  } = (resource?.status ?? {}) as DeploymentResource["status"] & {
    readonly operationState?: unknown;
  };
  const said = conditions
    .filter(({ message = "" }) => message !== "")
    .map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);
  return [...said, JSON.stringify({ operationState, sync }).replaceAll('\\"', '"')].join("\n");
}

/** Waits until a deployment is Stalled. */
export const stuck = (world: World, at: { readonly namespace: string; readonly name: string }) =>
  until(
    `${at.namespace}/${at.name} is refused`,
    () => world.kube.get<DeploymentResource>(TYPES.deployment, at, world.signal),
    (found) => conditionOf(found, "Stalled")?.status === "True",
  );

/** Waits until a deployment's user reads this, and returns everything the user reads then. */
export async function reported(world: World, at: { readonly namespace: string; readonly name: string }, what: string): Promise<string> {
  const read = async () => reportedOf(await world.kube.get<DeploymentResource>(TYPES.deployment, at, world.signal));
  return until(`${at.namespace}/${at.name} reports ${what}`, read, (text) => text.includes(what));
}
