import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { API_ACCOUNT, accountOfRole, ENGINE_ACCOUNT } from "../../src/cli/install/roles.ts";
import { RefusedError } from "../../src/domain/errors.ts";
import type { InstanceId, UnitId } from "../../src/domain/ids.ts";
import { ACCOUNTS_NAMESPACE, CLASS_LABELS, DEPLOYER_ROLE, LABEL_INSTANCE, READER_ROLE, SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import { createEngineCluster } from "../../src/instance-provisioner/adapters/kubernetes/engine-cluster.ts";
import { DEFINITIONS } from "../../src/instance-provisioner/adapters/kubernetes/types.ts";
import { renderManifests } from "../../src/instance-provisioner/manifests/render.ts";
import { someParameters } from "../../src/instance-provisioner/testing/parameters.ts";
import { createAccountTokens } from "../../src/reconciler/adapters/kubernetes/account-tokens.ts";
import { createDeployerRole, createReaderRole } from "../../src/reconciler/adapters/kubernetes/deployer-role.ts";
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLE_OBJECTS } from "../../src/reconciler/adapters/kubernetes/types.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { NAMESPACES } from "../../src/runtime/kube/namespaces.ts";
import { apiVersionOf, type KubeObject, type ResourceType, resourcePath } from "../../src/runtime/kube/resource.ts";
import { realApiServer } from "../../src/runtime/kube/testing/real-api-server.ts";
import { systemRng } from "../../src/runtime/rng.ts";
import { deployerRules, sameRules } from "../../src/shard/deployer-rules.ts";
import { manifestOf } from "../../src/shard/managed-object.ts";
import { accountName } from "../../src/shard/names.ts";
import { readerRules } from "../../src/shard/reader-rules.ts";
import { renderIdentity, renderImpersonation } from "../../src/shard/render-instance.ts";
import { renderOwnerBinding, renderReader } from "../../src/shard/render-unit.ts";
import { anApplicationPlacement } from "../../src/shard/testing/builders.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";
import { type InstalledCluster, startInstalledCluster } from "./testing/installed-cluster.ts";

const RBAC = "rbac.authorization.k8s.io";
const never = new AbortController().signal;
const core = (plural: string, kind: string): ResourceType => ({ group: "", version: "v1", plural, kind, namespaced: true });
const SECRETS = core("secrets", "Secret");
const CONFIG_MAPS = core("configmaps", "ConfigMap");
const SERVICE_ACCOUNTS = core("serviceaccounts", "ServiceAccount");
const PODS = core("pods", "Pod");
const DEPLOYMENTS: ResourceType = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true };

const INSTANCE = "instance-1" as InstanceId;
const UNIT = "unit-1" as UnitId;
const OWNER = accountName(UNIT, INSTANCE);
const STRANGER = "stranger";
const WORKSPACE = "team-a";
const LABELLED = "team-b";
const USER = "user";
const PLATFORM = "platform";
const IN_INSTANCE = someParameters().instance.namespace;
const accounts = { accounts: ACCOUNTS_NAMESPACE };

type Metadata = { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly apiGroup?: string;
}

const serviceAccount = (namespace: string, name: string): Subject => ({ kind: "ServiceAccount", namespace, name });
const clusterRole = (name: string) => ({ apiGroup: RBAC, kind: "ClusterRole", name });
const role = (name: string) => ({ apiGroup: RBAC, kind: "Role", name });
const mallory: Subject = { kind: "User", apiGroup: RBAC, name: "mallory" };

/** Tried without a trace: a dry run passes the same authorizer and the same policies. */
const create =
  (type: ResourceType, metadata: Metadata, fields: object = {}) =>
  (client: KubeClient) =>
    client.request(
      {
        method: "POST",
        path: resourcePath(type, metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        query: { dryRun: "All" },
        body: { apiVersion: apiVersionOf(type), kind: type.kind, metadata, ...fields },
      },
      never,
    );
const patch = (type: ResourceType, at: { readonly name: string; readonly namespace?: string }, body: object) => (client: KubeClient) =>
  client.request(
    {
      method: "PATCH",
      path: resourcePath(type, at),
      query: { dryRun: "All" },
      contentType: "application/merge-patch+json",
      body,
    },
    never,
  );
const remove = (type: ResourceType, at: { readonly name: string; readonly namespace?: string }) => (client: KubeClient) =>
  client.request({ method: "DELETE", path: resourcePath(type, at), query: { dryRun: "All" } }, never);

type Attack = (client: KubeClient) => Promise<unknown>;
const binding = (namespace: string, roleRef: object, subject: Subject): Attack =>
  create(ROLE_BINDINGS, { namespace, name: "mine" }, { roleRef, subjects: [subject] });
const widening = (rule: object, name = DEPLOYER_ROLE): Attack => patch(CLUSTER_ROLES, { name }, { rules: [rule] });
const reading = (rule: object): Attack => widening(rule, READER_ROLE);
const token = (namespace: string, account: string): Attack =>
  create(
    SECRETS,
    { namespace, name: "mine", annotations: { "kubernetes.io/service-account.name": account } },
    { type: "kubernetes.io/service-account-token" },
  );
const issued =
  (namespace: string, name: string): Attack =>
  (client) =>
    client.request(
      {
        method: "POST",
        path: resourcePath(SERVICE_ACCOUNTS, { namespace, name, subresource: "token" }),
        query: { dryRun: "All" },
        body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: {}, spec: { expirationSeconds: 600 } },
      },
      never,
    );
const pods = (serviceAccountName: string) => ({
  selector: { matchLabels: { app: "a" } },
  template: { metadata: { labels: { app: "a" } }, spec: { serviceAccountName, containers: [{ name: "a", image: "a" }] } },
});

/** By whoever holds the rights of the reconciler: it may bind and widen. */
const BY_RIGHTS: Readonly<Record<string, Attack>> = {
  "reads everything, for a process of Argosy": create(
    CLUSTER_ROLE_BINDINGS,
    { name: "mine" },
    { roleRef: clusterRole(READER_ROLE), subjects: [serviceAccount(SYSTEM_NAMESPACE, "argosy-workspace")] },
  ),
  "reads everything, for an owner's account": create(
    CLUSTER_ROLE_BINDINGS,
    { name: "mine" },
    { roleRef: clusterRole(READER_ROLE), subjects: [serviceAccount(ACCOUNTS_NAMESPACE, OWNER)] },
  ),
  "deploys in the whole cluster": create(
    CLUSTER_ROLE_BINDINGS,
    { name: "mine" },
    { roleRef: clusterRole(DEPLOYER_ROLE), subjects: [serviceAccount(ACCOUNTS_NAMESPACE, OWNER)] },
  ),
  "adds a person to an instance's right to read": patch(CLUSTER_ROLE_BINDINGS, { name: "reader-of-before" }, { subjects: [mallory] }),
  "gives an owner's right to a person": binding(WORKSPACE, clusterRole(DEPLOYER_ROLE), mallory),
  "gives an owner's right to a process of Argosy": binding(
    WORKSPACE,
    clusterRole(DEPLOYER_ROLE),
    serviceAccount(SYSTEM_NAMESPACE, "argosy-reconciler"),
  ),
  "adds a person to an owner binding": patch(
    ROLE_BINDINGS,
    { namespace: WORKSPACE, name: "owner-of-before" },
    { subjects: [serviceAccount(ACCOUNTS_NAMESPACE, OWNER), mallory] },
  ),
  "deploys where Argosy runs": binding(SYSTEM_NAMESPACE, clusterRole(DEPLOYER_ROLE), serviceAccount(ACCOUNTS_NAMESPACE, OWNER)),
  "deploys where the accounts are": binding(ACCOUNTS_NAMESPACE, clusterRole(DEPLOYER_ROLE), serviceAccount(ACCOUNTS_NAMESPACE, OWNER)),
  "deploys where the cluster's own parts run": binding(
    "kube-system",
    clusterRole(DEPLOYER_ROLE),
    serviceAccount(ACCOUNTS_NAMESPACE, OWNER),
  ),
  "deploys in an instance": binding(IN_INSTANCE, clusterRole(DEPLOYER_ROLE), serviceAccount(ACCOUNTS_NAMESPACE, OWNER)),
  "binds the reader's role in a namespace": binding(WORKSPACE, clusterRole(READER_ROLE), serviceAccount(ACCOUNTS_NAMESPACE, "read-1")),
  "reads Secrets where Argosy runs": binding(SYSTEM_NAMESPACE, clusterRole(READER_ROLE), serviceAccount(ACCOUNTS_NAMESPACE, OWNER)),
  "reads Secrets where the accounts are": binding(ACCOUNTS_NAMESPACE, clusterRole(READER_ROLE), serviceAccount(ACCOUNTS_NAMESPACE, OWNER)),
  "reads Secrets where the cluster's own parts run": binding(
    "kube-system",
    clusterRole(READER_ROLE),
    serviceAccount(ACCOUNTS_NAMESPACE, OWNER),
  ),
  "reads Secrets of an instance": binding(IN_INSTANCE, clusterRole(READER_ROLE), serviceAccount(ACCOUNTS_NAMESPACE, OWNER)),
  "lets a person read a workspace": binding(WORKSPACE, clusterRole(READER_ROLE), mallory),
  "lets an account act as all accounts": create(
    ROLE_OBJECTS,
    { namespace: ACCOUNTS_NAMESPACE, name: "read-1" },
    { rules: [{ apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] }] },
  ),
  "lets an account write the accounts": create(
    ROLE_OBJECTS,
    { namespace: ACCOUNTS_NAMESPACE, name: "read-1" },
    { rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["create"] }] },
  ),
  "gives a role of Argosy's own to an account": binding(
    ACCOUNTS_NAMESPACE,
    role(API_ACCOUNT),
    serviceAccount(ACCOUNTS_NAMESPACE, "read-1"),
  ),
  "widens owners' rights by RBAC": widening({ apiGroups: [RBAC], resources: ["rolebindings"], verbs: ["create"] }),
  "widens owners' rights by wildcards": widening({ apiGroups: ["*"], resources: ["*"], verbs: ["get"] }),
  "widens owners' rights by tokens": widening({ apiGroups: [""], resources: ["serviceaccounts/token"], verbs: ["create"] }),
  "widens owners' rights by impersonation": widening({ apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] }),
  "widens owners' rights by quotas": widening({ apiGroups: [""], resources: ["resourcequotas"], verbs: ["delete"] }),
  "widens owners' rights by shells in pods": widening({ apiGroups: [""], resources: ["pods/exec"], verbs: ["create"] }),
  "widens owners' rights by paths": widening({ nonResourceURLs: ["/metrics"], verbs: ["get"] }),
  "lets instances read everything": reading({ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }),
  "lets instances read rights": reading({ apiGroups: [RBAC], resources: ["rolebindings"], verbs: ["list"] }),
  "lets instances run commands in pods": reading({ apiGroups: [""], resources: ["pods/exec"], verbs: ["get"] }),
  "lets instances scale, which is a subresource": reading({ apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["get"] }),
  "lets instances read nodes": reading({ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }),
  "lets instances write": reading({ apiGroups: [""], resources: ["configmaps"], verbs: ["patch"] }),
  "lets instances read by paths": reading({ nonResourceURLs: ["/metrics"], verbs: ["get"] }),
  "is given a token of an account that is neither an instance's nor a unit's": issued(ACCOUNTS_NAMESPACE, STRANGER),
  "has a token without an end made of an instance's account": token(ACCOUNTS_NAMESPACE, "read-1"),
  "gives owners' rights to everybody who may view": patch(
    CLUSTER_ROLES,
    { name: DEPLOYER_ROLE },
    { metadata: { labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } } },
  ),
};

/** By whoever holds the rights to make instances on this cluster. */
const BY_INSTANCES: Readonly<Record<string, Attack>> = {
  "has a token made of an account of the cluster": token("kube-system", "clusterrole-aggregation-controller"),
  "has a token made of a process of Argosy": token(SYSTEM_NAMESPACE, "argosy-reconciler"),
  "has a token made of a user's account": token(WORKSPACE, "default"),
  "runs as an account of the cluster": create(
    DEPLOYMENTS,
    { namespace: "kube-system", name: "mine" },
    { spec: pods("clusterrole-aggregation-controller") },
  ),
  "runs as a process of Argosy": create(DEPLOYMENTS, { namespace: SYSTEM_NAMESPACE, name: "mine" }, { spec: pods("argosy-reconciler") }),
  "runs in a workspace": create(DEPLOYMENTS, { namespace: WORKSPACE, name: "mine" }, { spec: pods("default") }),
  "configures the cluster": create(CONFIG_MAPS, { namespace: "kube-system", name: "mine" }),
  "gives another kubeconfig for a cluster": create(SECRETS, { namespace: SYSTEM_NAMESPACE, name: "engine-1" }),
  "makes an account of the cluster": create(SERVICE_ACCOUNTS, { namespace: "kube-system", name: "mine" }),
  "makes a namespace that is no instance's": create(NAMESPACES, { name: "mine" }),
  "takes a workspace for an instance": patch(NAMESPACES, { name: WORKSPACE }, { metadata: { labels: { [LABEL_INSTANCE]: "mine" } } }),
  "lets pods of the cluster do more": patch(
    NAMESPACES,
    { name: "kube-system" },
    { metadata: { labels: { "pod-security.kubernetes.io/enforce": "privileged" } } },
  ),
  "has users' resources converted by a server of its own": patch(
    DEFINITIONS,
    { name: "gitopsdeployments.managed-gitops.redhat.com" },
    { spec: { preserveUnknownFields: false, names: { shortNames: ["mine"] } } },
  ),
  "deletes a workspace": remove(NAMESPACES, { name: WORKSPACE }),
  "binds a role in a workspace": binding(WORKSPACE, role("reads"), serviceAccount(WORKSPACE, "default")),
  "binds an instance's role to another account": binding(
    IN_INSTANCE,
    role("argocd-application-controller"),
    serviceAccount(WORKSPACE, "default"),
  ),
  "makes a role in a workspace": create(
    ROLE_OBJECTS,
    { namespace: WORKSPACE, name: "mine" },
    { rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }] },
  ),
  "makes another role in an instance": create(
    ROLE_OBJECTS,
    { namespace: IN_INSTANCE, name: "mine" },
    { rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }] },
  ),
  "widens the role of an instance's controller": patch(
    ROLE_OBJECTS,
    { namespace: IN_INSTANCE, name: "argocd-application-controller" },
    { rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["create"] }] },
  ),
};

const attacks = [
  ...[accountOfRole("reconciler"), API_ACCOUNT].flatMap((by) => Object.keys(BY_RIGHTS).map((what) => [by, what] as const)),
  ...[accountOfRole("provisioner"), ENGINE_ACCOUNT].flatMap((by) => Object.keys(BY_INSTANCES).map((what) => [by, what] as const)),
];

const CLASS = `${CLASS_LABELS}region`;
const US = { metadata: { labels: { [CLASS]: "us" } } };
const BY_SUBRESOURCE = { "namespaces/status": "status", "namespaces/finalize": "finalize" } as const;
/** By whoever may write namespaces, as users may on platforms where they make their own. */
const BY_USERS: Readonly<Record<string, Attack>> = {
  "makes a namespace of another class": create(NAMESPACES, { name: "mine", labels: { [CLASS]: "us" } }),
  "gives its namespace another class": patch(NAMESPACES, { name: LABELLED }, US),
  "takes the class from its namespace": patch(NAMESPACES, { name: LABELLED }, { metadata: { labels: { [CLASS]: null } } }),
  "gives its namespace a first class": patch(NAMESPACES, { name: WORKSPACE }, US),
  ...Object.fromEntries(
    Object.entries(BY_SUBRESOURCE).map(([resource, subresource]) => [
      `gives its namespace another class through ${resource}`,
      async (client: KubeClient) => {
        const seen = await client.get<KubeObject>(NAMESPACES, { namespace: "", name: WORKSPACE }, never);
        const path = resourcePath(NAMESPACES, { name: WORKSPACE, subresource });
        const body = { ...seen, metadata: { ...seen?.metadata, ...US.metadata } };
        return client.request({ method: "PUT", path, query: { dryRun: "All" }, body }, never);
      },
    ]),
  ),
};

describe.runIf((await realApiServer()) !== undefined)("the policies for Argosy's own accounts", () => {
  let cluster: InstalledCluster;
  const clients = new Map<string, Promise<KubeClient>>();
  const as = (account: string): Promise<KubeClient> => {
    const client = clients.get(account) ?? cluster.as(account);
    clients.set(account, client);
    return client;
  };
  const put = (type: ResourceType, object: object) => cluster.admin.create(type, object as KubeObject, never);

  /** What a policy says against it; a new one takes the API server a moment. */
  const refusalOf = (account: string, attack: Attack) =>
    vi.waitFor(
      async () => {
        const answer = await attack(await as(account)).catch((error: unknown) => error);
        expect(answer).toBeInstanceOf(RefusedError);
        const { cause } = answer as RefusedError;
        const text = cause instanceof Error ? cause.message : "";
        expect(text).toMatch(/ValidatingAdmissionPolicy 'argosy-[a-z-]+' with binding/);
        return text;
      },
      { timeout: 60_000 },
    );

  beforeAll(async () => {
    cluster = await startInstalledCluster(never);
    const { admin } = cluster;
    await admin.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: WORKSPACE } }, never);
    // Nobody makes it where no controller runs.
    await put(SERVICE_ACCOUNTS, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: WORKSPACE } });
    for (const name of [OWNER, STRANGER])
      await put(SERVICE_ACCOUNTS, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: ACCOUNTS_NAMESPACE } });
    const labelled = { name: LABELLED, labels: { [CLASS]: "eu" } };
    await admin.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: labelled }, never);
    const namespaces = { apiGroups: [""], resources: ["namespaces", "namespaces/status", "namespaces/finalize"], verbs: ["*"] };
    const assigning = { apiGroups: ["argosy.dev"], resources: ["classes"], verbs: ["assign"] };
    for (const [name, ...may] of [[USER, namespaces] as const, [PLATFORM, namespaces, assigning] as const]) {
      await put(SERVICE_ACCOUNTS, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: WORKSPACE } });
      await put(CLUSTER_ROLES, { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name }, rules: may });
      const bound = { roleRef: clusterRole(name), subjects: [serviceAccount(WORKSPACE, name)] };
      await put(CLUSTER_ROLE_BINDINGS, { apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding", metadata: { name }, ...bound });
      clients.set(name, cluster.as(name, WORKSPACE));
    }
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
    await put(ROLE_OBJECTS, { apiVersion: `${RBAC}/v1`, kind: "Role", metadata: { name: "reads", namespace: WORKSPACE }, rules });
    const before = { apiVersion: `${RBAC}/v1`, subjects: [serviceAccount(ACCOUNTS_NAMESPACE, OWNER)] };
    const owner = { namespace: WORKSPACE, name: "owner-of-before" };
    await put(ROLE_BINDINGS, { ...before, kind: "RoleBinding", metadata: owner, roleRef: clusterRole(DEPLOYER_ROLE) });
    const reader = { ...before, kind: "ClusterRoleBinding", metadata: { name: "reader-of-before" } };
    await put(CLUSTER_ROLE_BINDINGS, { ...reader, roleRef: clusterRole(READER_ROLE) });
    // Each policy in force from now on.
    await refusalOf(accountOfRole("provisioner"), BY_INSTANCES["configures the cluster"] as Attack);
    await refusalOf(accountOfRole("provisioner"), BY_INSTANCES["deletes a workspace"] as Attack);
    await refusalOf(accountOfRole("provisioner"), BY_INSTANCES["makes a role in a workspace"] as Attack);
    await refusalOf(accountOfRole("provisioner"), BY_INSTANCES["has users' resources converted by a server of its own"] as Attack);
    await refusalOf(accountOfRole("reconciler"), BY_RIGHTS["gives an owner's right to a person"] as Attack);
    await refusalOf(accountOfRole("reconciler"), BY_RIGHTS["deploys in the whole cluster"] as Attack);
    await refusalOf(accountOfRole("reconciler"), BY_RIGHTS["widens owners' rights by wildcards"] as Attack);
    await refusalOf(
      accountOfRole("reconciler"),
      BY_RIGHTS["is given a token of an account that is neither an instance's nor a unit's"] as Attack,
    );
  });
  afterAll(() => cluster?.stop());

  it.each([accountOfRole("provisioner"), ENGINE_ACCOUNT])("let %s make an instance, and delete it", async (account) => {
    const { instance, ...parameters } = someParameters();
    const id = account as InstanceId;
    const client = await as(account);
    const ending = new AbortController();
    const parts = { client, clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics };
    const engine = createEngineCluster(parts, () => undefined, ending.signal);
    const namespace = account === ENGINE_ACCOUNT ? `${instance.namespace}-too` : instance.namespace;
    const objects = renderManifests({ ...parameters, instance: { ...instance, id, namespace } });
    const written = await engine.applyObjects(objects, never);
    expect(written).toHaveLength(objects.length);
    if (account === ENGINE_ACCOUNT) await client.delete(NAMESPACES, { namespace: "", name: namespace }, {}, never);
    ending.abort(new Error("the test ends"));
  });

  it.each([accountOfRole("reconciler"), API_ACCOUNT])("let %s give an instance its identity and a unit its owner", async (account) => {
    const client = await as(account);
    const instance = account as InstanceId;
    const { account: who, reader, impersonation } = renderIdentity(instance, accounts);
    await client.create(SERVICE_ACCOUNTS, manifestOf(who), never);
    const tokens = createAccountTokens({ client, clock: systemClock });
    expect((await tokens.issue(who.at, 600_000, never)).token).not.toBe("");
    await tokens.removeEndless(who.at, never);
    await client.create(CLUSTER_ROLE_BINDINGS, manifestOf(reader), never);
    await client.create(ROLE_OBJECTS, manifestOf(renderImpersonation(instance, [], accounts)), never);
    await client.create(ROLE_BINDINGS, manifestOf(impersonation), never);
    const { rules } = renderImpersonation(instance, [UNIT], accounts).content as { readonly rules: unknown };
    const at = { namespace: ACCOUNTS_NAMESPACE, name: who.at.name };
    await client.jsonPatch(ROLE_OBJECTS, at, [{ op: "add", path: "/rules", value: rules }], never);

    const placement = anApplicationPlacement({ bucket: account === API_ACCOUNT ? 1 : 0 });
    const owner = renderOwnerBinding(placement, accounts);
    await client.create(ROLE_BINDINGS, manifestOf(owner), never);
    // On an instance with an entry for each workspace the unit's account reads there, and enters by a token.
    await client.create(
      ROLE_BINDINGS,
      manifestOf(renderReader({ ...placement, instance: { ...placement.instance, id: instance } }, accounts)),
      never,
    );
    expect((await tokens.issue({ namespace: ACCOUNTS_NAMESPACE, name: OWNER }, 600_000, never)).token).not.toBe("");
    // Taken from the old owner and given to the next one, though a user has added somebody meanwhile.
    await client.jsonPatch(ROLE_BINDINGS, owner.at, [{ op: "add", path: "/subjects", value: [] }], never);
    await cluster.admin.jsonPatch(
      ROLE_BINDINGS,
      owner.at,
      [
        { op: "add", path: "/subjects", value: [mallory] },
        { op: "add", path: "/metadata/finalizers", value: ["example.com/held"] },
      ],
      never,
    );
    await client.jsonPatch(ROLE_BINDINGS, owner.at, [{ op: "remove", path: "/metadata/finalizers" }], never);
    const { subjects } = owner.content as { readonly subjects: unknown };
    await client.jsonPatch(ROLE_BINDINGS, owner.at, [{ op: "add", path: "/subjects", value: subjects }], never);
    await client.delete(ROLE_BINDINGS, owner.at, {}, never);
  });

  it.each([accountOfRole("reconciler"), API_ACCOUNT])(
    "let %s keep owners' and instances' rights in step with what the cluster serves",
    async (account) => {
      const client = await as(account);
      const deployer = createDeployerRole(client);
      const discovery = await deployer.discover(never);
      for (const declared of [{ allowedGroups: ["*"], refusedGroups: ["apps"] }, {}]) {
        const seen = await deployer.read(never);
        if (seen === undefined) throw new Error("the role is not there");
        const rules = deployerRules(discovery, { present: seen.rules, declared });
        expect(rules.length).toBeGreaterThan(5);
        await deployer.replaceRules(seen, rules, never);
        expect(sameRules((await deployer.read(never))?.rules ?? [], rules)).toBe(true);
        const reader = createReaderRole(client);
        const read = await reader.read(never);
        if (read === undefined) throw new Error("the role is not there");
        const readable = readerRules(discovery, { present: read.rules, declared });
        await reader.replaceRules({ ...read, annotations: { "example.org/a": "b" } }, readable, never);
        expect(await reader.read(never)).toMatchObject({ rules: readable, annotations: { "example.org/a": "b" } });
      }
    },
  );

  it.each(attacks)("refuse %s: it %s", async (account, what) => {
    const attack = BY_RIGHTS[what] ?? BY_INSTANCES[what];
    await refusalOf(account, attack as Attack);
  });

  it("refuse health a pod that is no instance's", async () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "mine", namespace: WORKSPACE } };
    await put(PODS, { ...pod, spec: { containers: [{ name: "a", image: "a" }] } });
    await refusalOf(accountOfRole("health"), remove(PODS, { namespace: WORKSPACE, name: "mine" }));
  });

  it.each(Object.keys(BY_USERS))("refuse a user who may write namespaces: it %s", async (what) => {
    expect(await refusalOf(USER, BY_USERS[what] as Attack)).toContain("assign on classes of argosy.dev");
  });

  it("let that user write all else of a namespace, and whoever may assign classes set their labels", async () => {
    const user = await as(USER);
    await create(NAMESPACES, { name: "mine", labels: { team: "a" } })(user);
    await patch(NAMESPACES, { name: LABELLED }, { metadata: { labels: { team: "a", [CLASS]: "eu" } } })(user);
    for (const what of Object.keys(BY_USERS)) await BY_USERS[what]?.(await as(PLATFORM));
  });

  it("say nothing to anybody else", async () => {
    await BY_RIGHTS["gives an owner's right to a person"]?.(cluster.admin);
    await BY_INSTANCES["configures the cluster"]?.(cluster.admin);
  });
});
