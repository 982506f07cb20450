import { applyAll } from "../hack/dev-cluster/apply.ts";
import { argoCdInstance } from "../hack/dev-cluster/testing/argo-cd-instance.ts";
import { loadKubeconfig } from "../src/runtime/kube/auth.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { tokenOf } from "./attacks/person.ts";
import type { FleetDocument } from "./pools-world.ts";
import { keepSecret } from "./secrets-in-use.ts";
import { TARGET_TYPES } from "./target-cluster.ts";
import { TYPES, type World } from "./world.ts";

const RBAC = "rbac.authorization.k8s.io";

export interface HandMadeArgo {
  readonly namespace: string;
  /** The address of the API cluster as it knows it. */
  readonly server: string;
  apply(type: ResourceType, object: object): Promise<unknown>;
  remove(): Promise<void>;
}

/** An ordinary Argo CD that deploys with an administrator's rights. Argosy does not know about it. */
export async function installHandMadeArgo(world: World, namespace: string): Promise<HandMadeArgo> {
  const { kube, signal } = world;
  const apply = (type: ResourceType, object: object) => kube.apply(type, object as KubeObject, { fieldManager: "anna" }, signal);
  const [release] = (world.harness.fleetDocument as FleetDocument).versions.catalogue;
  await applyAll(kube, argoCdInstance(namespace, release?.version ?? ""), signal);
  const account = { namespace, name: "deployer" };
  await apply(TARGET_TYPES.serviceAccount, { apiVersion: "v1", kind: "ServiceAccount", metadata: account });
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" };
  const subjects = [{ kind: "ServiceAccount", ...account }];
  const binding = { apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding", metadata: { name: namespace }, roleRef, subjects };
  await apply(TARGET_TYPES.clusterRoleBinding, binding);
  const bearerToken = await keepSecret("a token of an Argo CD made by hand", await tokenOf(kube, account, signal));
  const { server, ca = "" } = loadKubeconfig({ file: world.harness.adminKubeconfig });
  const config = JSON.stringify({ bearerToken, tlsClientConfig: { caData: Buffer.from(ca).toString("base64") } });
  const metadata = { namespace, name: "here", labels: { "argocd.argoproj.io/secret-type": "cluster" } };
  await apply(TYPES.secret, { apiVersion: "v1", kind: "Secret", metadata, stringData: { name: "here", server, config } });
  const spec = { sourceRepos: ["*"], destinations: [{ server: "*", namespace: "*" }] };
  await apply(TYPES.project, { apiVersion: "argoproj.io/v1alpha1", kind: "AppProject", metadata: { namespace, name: "default" }, spec });
  return {
    ...{ namespace, server, apply },
    async remove() {
      await kube.delete(TARGET_TYPES.clusterRoleBinding, { namespace: "", name: namespace }, {}, signal);
      await kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, signal);
    },
  };
}
