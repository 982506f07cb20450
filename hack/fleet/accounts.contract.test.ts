import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { API_ACCOUNT, accountOfRole, ENGINE_ACCOUNT } from "../../src/cli/install/roles.ts";
import { RefusedError } from "../../src/domain/errors.ts";
import { ACCOUNTS_NAMESPACE, DEPLOYER_ROLE, SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import { ROLES } from "../../src/domain/role.ts";
import type { KubeRequest } from "../../src/runtime/kube/client.ts";
import { NAMESPACES } from "../../src/runtime/kube/namespaces.ts";
import { type ResourceType, resourcePath } from "../../src/runtime/kube/resource.ts";
import { realApiServer } from "../../src/runtime/kube/testing/real-api-server.ts";
import { type InstalledCluster, startInstalledCluster } from "./testing/installed-cluster.ts";
import { linesOf, rightsOf } from "./testing/rights-of.ts";

const GOLDEN = join(import.meta.dirname, "accounts.golden.txt");
/** `ARGOSY_WRITE_GOLDEN=1 npm test …` writes the file again; review what changed. */
const isWriting = process.env["ARGOSY_WRITE_GOLDEN"] !== undefined;
const INSTANCE = "argosy-standard-1";
const never = new AbortController().signal;

const core = (plural: string, kind: string): ResourceType => ({ group: "", version: "v1", plural, kind, namespaced: true });
const SECRETS = core("secrets", "Secret");
const SERVICE_ACCOUNTS = core("serviceaccounts", "ServiceAccount");
const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

describe.runIf((await realApiServer()) !== undefined)("Argosy's accounts on a real API server", () => {
  let cluster: InstalledCluster;
  beforeAll(async () => {
    cluster = await startInstalledCluster(never);
    for (const name of [INSTANCE, "team"])
      await cluster.admin.apply(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, { fieldManager: "user" }, never);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "db", namespace: "team" } };
    await cluster.admin.create(SECRETS, secret, never);
  });
  afterAll(() => cluster?.stop());

  it("may do what the golden file says, and no more", async () => {
    const nobody = await cluster.as("nobody");
    const anybody = await rightsOf(nobody, "default");
    const lines: string[] = [];
    for (const account of [...ROLES.map(accountOfRole), API_ACCOUNT, ENGINE_ACCOUNT]) {
      const client = await cluster.as(account);
      const everywhere = await rightsOf(client, "default");
      lines.push(account, "  in any namespace, and beyond namespaces", ...linesOf(everywhere, anybody));
      for (const namespace of [ACCOUNTS_NAMESPACE, SYSTEM_NAMESPACE, INSTANCE]) {
        const more = linesOf(await rightsOf(client, namespace), everywhere);
        if (more.length > 0) lines.push(`  in ${namespace} besides`, ...more);
      }
    }
    const text = `${lines.join("\n")}\n`;
    if (isWriting) writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, "utf8"));
  });

  const types = {
    roleBindings: { ...RBAC, plural: "rolebindings", kind: "RoleBinding", namespaced: true },
    clusterRoleBindings: { ...RBAC, plural: "clusterrolebindings", kind: "ClusterRoleBinding", namespaced: false },
    clusterRoles: { ...RBAC, plural: "clusterroles", kind: "ClusterRole", namespaced: false },
    pods: core("pods", "Pod"),
    configMaps: core("configmaps", "ConfigMap"),
    deployments: {
      group: "managed-gitops.redhat.com",
      version: "v1alpha1",
      plural: "gitopsdeployments",
      kind: "GitOpsDeployment",
      namespaced: true,
    },
    policies: {
      ...{ group: "admissionregistration.k8s.io", version: "v1", plural: "validatingadmissionpolicybindings" },
      ...{ kind: "ValidatingAdmissionPolicyBinding", namespaced: false },
    },
  } as const satisfies Record<string, ResourceType>;
  const creating = (
    type: ResourceType,
    metadata: { readonly name: string; readonly namespace?: string },
    fields: object = {},
  ): KubeRequest => ({
    method: "POST",
    path: resourcePath(type, metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    body: { apiVersion: type.group === "" ? type.version : `${type.group}/${type.version}`, kind: type.kind, metadata, ...fields },
  });
  const bindingTo = (role: string) => ({
    roleRef: { apiGroup: RBAC.group, kind: "ClusterRole", name: role },
    subjects: [{ kind: "ServiceAccount", namespace: SYSTEM_NAMESPACE, name: "argosy-workspace" }],
  });
  const acting = (user: string): KubeRequest => ({
    method: "GET",
    path: resourcePath(NAMESPACES, {}),
    headers: { "impersonate-user": user },
  });
  const token = (namespace: string, name: string): KubeRequest => ({
    method: "POST",
    path: resourcePath(SERVICE_ACCOUNTS, { namespace, name, subresource: "token" }),
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
  });

  /** What whoever took over the process that parses users' resources and runs Git would want. */
  const WANTED: Readonly<Record<string, KubeRequest>> = {
    "be an administrator": creating(types.clusterRoleBindings, { name: "mine" }, bindingTo("cluster-admin")),
    "be one in a namespace": creating(types.roleBindings, { namespace: "team", name: "mine" }, bindingTo("admin")),
    "deploy as the owner of a workspace": creating(types.roleBindings, { namespace: "team", name: "mine" }, bindingTo(DEPLOYER_ROLE)),
    "widen what owners may do": {
      method: "PATCH",
      path: resourcePath(types.clusterRoles, { name: DEPLOYER_ROLE }),
      contentType: "application/merge-patch+json",
      body: { rules: [] },
    },
    "make a role": creating(types.clusterRoles, { name: "mine" }, { rules: [] }),
    "act as an owner": acting(`system:serviceaccount:${ACCOUNTS_NAMESPACE}:u-1`),
    "act as the reconciler": acting(`system:serviceaccount:${SYSTEM_NAMESPACE}:argosy-reconciler`),
    "act as an administrator": acting("kubernetes-admin"),
    "a token of an owner": token(ACCOUNTS_NAMESPACE, "u-1"),
    "a token of the reconciler": token(SYSTEM_NAMESPACE, "argosy-reconciler"),
    "have a token made": creating(
      SECRETS,
      { namespace: "kube-system", name: "mine", ...{ annotations: { "kubernetes.io/service-account.name": "default" } } },
      { type: "kubernetes.io/service-account-token" },
    ),
    "another kubeconfig for a cluster that hosts instances": creating(SECRETS, { namespace: SYSTEM_NAMESPACE, name: "engine" }),
    "change a user's Secret": {
      method: "PATCH",
      path: resourcePath(SECRETS, { namespace: "team", name: "db" }),
      contentType: "application/merge-patch+json",
      body: { stringData: { password: "mine" } },
    },
    "delete a user's Secret": { method: "DELETE", path: resourcePath(SECRETS, { namespace: "team", name: "db" }) },
    "make an account": creating(SERVICE_ACCOUNTS, { namespace: ACCOUNTS_NAMESPACE, name: "u-1" }),
    "run a pod": creating(types.pods, { namespace: "kube-system", name: "mine" }, { spec: { containers: [{ name: "a", image: "a" }] } }),
    "deploy in a user's name": creating(types.deployments, { namespace: "team", name: "mine" }, { spec: {} }),
    "write to a namespace": creating(types.configMaps, { namespace: "team", name: "mine" }),
    "read configuration": { method: "GET", path: resourcePath(types.configMaps, { namespace: "kube-system" }) },
    "label a namespace": {
      method: "PATCH",
      path: resourcePath(NAMESPACES, { name: "team" }),
      contentType: "application/merge-patch+json",
      body: { metadata: { labels: { "argosy.dev/instance": "mine" } } },
    },
    "delete a namespace": { method: "DELETE", path: resourcePath(NAMESPACES, { name: "team" }) },
    "lift a policy": { method: "DELETE", path: resourcePath(types.policies, { name: "argosy-role-bindings" }) },
  };

  it.each(Object.keys(WANTED))("refuse the workspace role: %s", async (what) => {
    const workspace = await cluster.as(accountOfRole("workspace"));
    const answer = await workspace.request(WANTED[what] as KubeRequest, never).catch((error: unknown) => error);
    expect(answer).toBeInstanceOf(RefusedError);
    expect(answer).toMatchObject({ context: { status: 403 } });
  });

  it("let the workspace role read Secrets of any namespace, which RBAC cannot except (docs/rights.md)", async () => {
    const workspace = await cluster.as(accountOfRole("workspace"));
    expect(await workspace.get(SECRETS, { namespace: "team", name: "db" }, never)).toBeDefined();
  });

  it("let no other role read users' Secrets but those that have to with the Secrets of instances on the same cluster", async () => {
    const readers: string[] = [];
    for (const role of ROLES) {
      const client = await cluster.as(accountOfRole(role));
      const read = await client.listPage(SECRETS, { namespace: "team" }, never).catch((error: unknown) => error);
      if (!(read instanceof RefusedError)) readers.push(role);
    }
    expect(readers).toEqual(["workspace", "reconciler", "provisioner", "api"]);
  });
});
