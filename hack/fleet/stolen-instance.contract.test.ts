import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { accountOfRole, renderApiClusterBase } from "../../src/cli/install/roles.ts";
import { RefusedError } from "../../src/domain/errors.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../src/domain/ids.ts";
import { ACCOUNTS_NAMESPACE, DEPLOYER_ROLE, SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import { createDeployerRole, createReaderRole } from "../../src/reconciler/adapters/kubernetes/deployer-role.ts";
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  ROLE_BINDINGS,
  ROLE_OBJECTS,
  ENGINE_SECRETS as SECRETS,
  SERVICE_ACCOUNTS,
} from "../../src/reconciler/adapters/kubernetes/types.ts";
import { keepDeployerRole } from "../../src/reconciler/instances/keep-deployer-role.ts";
import { createReaderKinds } from "../../src/reconciler/instances/keep-reader-role.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { KubeClient, KubeRequest } from "../../src/runtime/kube/client.ts";
import { NAMESPACES } from "../../src/runtime/kube/namespaces.ts";
import { type KubeObject, type ResourceType, resourcePath } from "../../src/runtime/kube/resource.ts";
import { realApiServer } from "../../src/runtime/kube/testing/real-api-server.ts";
import { manifestOf } from "../../src/shard/managed-object.ts";
import { accountName, readAccountName } from "../../src/shard/names.ts";
import { renderIdentity, renderImpersonation } from "../../src/shard/render-instance.ts";
import { renderUnit } from "../../src/shard/render-unit.ts";
import { anApplicationPlacement } from "../../src/shard/testing/builders.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { applyObjects } from "./install.ts";
import { type InstalledCluster, startInstalledCluster } from "./testing/installed-cluster.ts";
import { linesOf, type Rights, rightsOf } from "./testing/rights-of.ts";

const GOLDEN = join(import.meta.dirname, "stolen-instance.golden.txt");
/** `ARGOSY_WRITE_GOLDEN=1 npm test …` writes the file again; review what changed. */
const isWriting = process.env["ARGOSY_WRITE_GOLDEN"] !== undefined;
const never = new AbortController().signal;

/** The instance whose token is stolen holds `team-a`; another holds `team-b`. */
const STOLEN = "instance-1" as InstanceId;
const HELD = "team-a";
const OTHERS = "team-b";
const PLACEMENTS = [HELD, OTHERS].map((namespace, index) => {
  const instance = { id: `instance-${index + 1}` as InstanceId, namespace: `argosy-standard-${index + 1}`, engineCluster: "engine" };
  const unit = { id: `unit-${index + 1}` as UnitId, workspaceId: `workspace-${index + 1}` as WorkspaceId, owner: instance.id };
  const placement = anApplicationPlacement(unit);
  return {
    ...placement,
    instance: { ...instance, entries: "shared" as const },
    workspace: { ...placement.workspace, id: unit.workspaceId, namespace },
  };
});
const PLACES = [ACCOUNTS_NAMESPACE, SYSTEM_NAMESPACE, "kube-system", "argosy-standard-1", "argosy-standard-2", HELD, OTHERS];

const core = (plural: string, kind: string, namespaced = true): ResourceType => ({ group: "", version: "v1", plural, kind, namespaced });
const PODS = core("pods", "Pod");
const SERVICES = core("services", "Service");
const CONFIG_MAPS = core("configmaps", "ConfigMap");
const NODES = core("nodes", "Node", false);

const user = (unit: number): string => {
  const { unit: of, instance } = PLACEMENTS[unit] as (typeof PLACEMENTS)[number];
  return `system:serviceaccount:${ACCOUNTS_NAMESPACE}:${accountName(of.id, instance.id)}`;
};
const at = (type: ResourceType, where: Parameters<typeof resourcePath>[1], verb: KubeRequest["method"] = "GET"): KubeRequest => ({
  method: verb,
  path: resourcePath(type, where),
});
const creating = (type: ResourceType, metadata: { readonly namespace?: string; readonly name: string }, fields: object): KubeRequest => ({
  method: "POST",
  path: resourcePath(type, metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  query: { dryRun: "All" },
  body: { apiVersion: type.group === "" ? type.version : `${type.group}/${type.version}`, kind: type.kind, metadata, ...fields },
});
const patching = (path: string): KubeRequest => ({
  method: "PATCH",
  path,
  query: { dryRun: "All" },
  contentType: "application/merge-patch+json",
  body: {},
});
const token = (namespace: string, name: string): KubeRequest => ({
  method: "POST",
  path: resourcePath(SERVICE_ACCOUNTS, { namespace, name, subresource: "token" }),
  body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
});
const as = (who: string, request: KubeRequest): KubeRequest => ({ ...request, headers: { "impersonate-user": who } });
const binding = (namespace: string, role: string): KubeRequest =>
  creating(
    ROLE_BINDINGS,
    { namespace, name: "mine" },
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [{ kind: "ServiceAccount", namespace: ACCOUNTS_NAMESPACE, name: readAccountName(STOLEN) }],
    },
  );

/** What runs commands, or speaks with what runs: to RBAC some of it is a read. */
const RUNNING: Readonly<Record<string, KubeRequest>> = {
  "exec, as a read": { ...at(PODS, { namespace: HELD, name: "web", subresource: "exec" }), query: { command: "id", stdout: "true" } },
  exec: { ...at(PODS, { namespace: HELD, name: "web", subresource: "exec" }, "POST"), query: { command: "id", stdout: "true" } },
  "attach, as a read": at(PODS, { namespace: HELD, name: "web", subresource: "attach" }),
  attach: at(PODS, { namespace: HELD, name: "web", subresource: "attach" }, "POST"),
  "port-forward, as a read": at(PODS, { namespace: HELD, name: "web", subresource: "portforward" }),
  "port-forward": at(PODS, { namespace: HELD, name: "web", subresource: "portforward" }, "POST"),
  "proxy to a pod, as a read": at(PODS, { namespace: HELD, name: "web", subresource: "proxy" }),
  "proxy to a pod": at(PODS, { namespace: HELD, name: "web", subresource: "proxy" }, "POST"),
  "proxy to a service, as a read": at(SERVICES, { namespace: HELD, name: "web", subresource: "proxy" }),
  "proxy to a service": at(SERVICES, { namespace: HELD, name: "web", subresource: "proxy" }, "POST"),
  "proxy to a node, as a read": at(NODES, { name: "node-1", subresource: "proxy" }),
  "proxy to a node": at(NODES, { name: "node-1", subresource: "proxy" }, "POST"),
  "read a pod's log": at(PODS, { namespace: HELD, name: "web", subresource: "log" }),
  "evict a pod": {
    method: "POST",
    path: resourcePath(PODS, { namespace: HELD, name: "web", subresource: "eviction" }),
    body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace: HELD, name: "web" } },
  },
  "add a container to a pod": patching(resourcePath(PODS, { namespace: HELD, name: "web", subresource: "ephemeralcontainers" })),
};

/** What makes one's rights larger. */
const GROWING: Readonly<Record<string, KubeRequest>> = {
  "have a token of another unit's account": token(ACCOUNTS_NAMESPACE, accountName("unit-2" as UnitId, "instance-2" as InstanceId)),
  "have a token of another instance's account": token(ACCOUNTS_NAMESPACE, readAccountName("instance-2" as InstanceId)),
  "have a token of the reconciler": token(SYSTEM_NAMESPACE, accountOfRole("reconciler")),
  "have a token of an account in a workspace": token(HELD, "default"),
  "act as another unit's account": as(user(1), at(CONFIG_MAPS, { namespace: OTHERS })),
  "act as the reconciler": as(
    `system:serviceaccount:${SYSTEM_NAMESPACE}:${accountOfRole("reconciler")}`,
    at(CONFIG_MAPS, { namespace: OTHERS }),
  ),
  "act as an administrator": as("kubernetes-admin", at(CONFIG_MAPS, { namespace: OTHERS })),
  "act as a member of system:masters": {
    ...at(CONFIG_MAPS, { namespace: OTHERS }),
    headers: { "impersonate-user": user(0), "impersonate-group": "system:masters" },
  },
  "bind a role in its workspace": binding(HELD, DEPLOYER_ROLE),
  "bind a role in another workspace": binding(OTHERS, DEPLOYER_ROLE),
  "bind a role beside the accounts": binding(ACCOUNTS_NAMESPACE, DEPLOYER_ROLE),
  "be an administrator of the cluster": creating(
    CLUSTER_ROLE_BINDINGS,
    { name: "mine" },
    { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" }, subjects: [] },
  ),
  "make a role": creating(ROLE_OBJECTS, { namespace: HELD, name: "mine" }, { rules: [] }),
  "widen what owners may do": patching(resourcePath(CLUSTER_ROLES, { name: DEPLOYER_ROLE })),
  "give the owner binding to itself": patching(resourcePath(ROLE_BINDINGS, { namespace: HELD, name: DEPLOYER_ROLE })),
};

/** What is nobody's but the cluster's or Argosy's, and no Secret. */
const READING: Readonly<Record<string, KubeRequest>> = {
  "read who may do what": at(ROLE_BINDINGS, {}),
  "read the nodes": at(NODES, {}),
  "read the namespaces": at(NAMESPACES, {}),
  "read what others deploy": { method: "GET", path: "/apis/managed-gitops.redhat.com/v1alpha1/gitopsdeployments" },
  "read the events": { method: "GET", path: "/api/v1/events" },
  "read the leases": { method: "GET", path: "/apis/coordination.k8s.io/v1/leases" },
  "read the API server's metrics": { method: "GET", path: "/metrics" },
};

const WRITING: Readonly<Record<string, KubeRequest>> = {
  "write into its workspace": creating(CONFIG_MAPS, { namespace: HELD, name: "mine" }, {}),
  "write into another workspace": creating(CONFIG_MAPS, { namespace: OTHERS, name: "mine" }, {}),
  "delete in its workspace": at(CONFIG_MAPS, { namespace: HELD, name: "mine" }, "DELETE"),
};

describe.runIf((await realApiServer()) !== undefined)("whoever has the token of an instance", () => {
  let cluster: InstalledCluster;
  let stolen: KubeClient;
  let anybody: Rights;
  const ownerBinding = { namespace: HELD, name: DEPLOYER_ROLE };

  beforeAll(async () => {
    cluster = await startInstalledCluster(never);
    const { admin } = cluster;
    for (const name of [...PLACES.slice(3)])
      await admin.apply(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, { fieldManager: "user" }, never);
    for (const namespace of PLACES) {
      const metadata = { namespace, name: "secret" };
      await admin.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata } as KubeObject, never);
    }
    const reconciler = await cluster.as(accountOfRole("reconciler"));
    const readerKinds = createReaderKinds({ reader: createReaderRole(reconciler), clock: systemClock, log: silentLog });
    const deps = { deployer: createDeployerRole(reconciler), readerKinds, fleet: { readFleet: async () => undefined }, log: silentLog };
    await keepDeployerRole(deps, never);
    for (const placement of PLACEMENTS) {
      const accounts = { accounts: ACCOUNTS_NAMESPACE };
      const { account, reader, impersonation } = renderIdentity(placement.instance.id, accounts);
      const around = {
        destination: { server: "https://a", caData: "" },
        namespaces: accounts,
        repoUrls: [],
        environmentRepoUrls: [],
        environments: [],
      };
      const unit = renderUnit(placement, around);
      await reconciler.create(SERVICE_ACCOUNTS, manifestOf(account), never);
      await reconciler.create(SERVICE_ACCOUNTS, manifestOf(unit.account), never);
      await reconciler.create(CLUSTER_ROLE_BINDINGS, manifestOf(reader), never);
      await reconciler.create(ROLE_OBJECTS, manifestOf(renderImpersonation(placement.instance.id, [placement.unit.id], accounts)), never);
      await reconciler.create(ROLE_BINDINGS, manifestOf(impersonation), never);
      await reconciler.create(ROLE_BINDINGS, manifestOf(unit.ownerBinding), never);
    }
    stolen = await cluster.as(readAccountName(STOLEN), ACCOUNTS_NAMESPACE);
    anybody = await rightsOf(await cluster.as("nobody"), "default");
    // The authoriser has heard of the last binding.
    await vi.waitFor(
      async () => expect((await rightsOf(stolen, HELD, { "impersonate-user": user(0) })).size).toBeGreaterThan(anybody.size),
      {
        timeout: 60_000,
      },
    );
  });
  afterAll(() => cluster?.stop());

  const statusOf = async (request: KubeRequest): Promise<number> => {
    const answer = await stolen.request(request, never).catch((error: unknown) => error);
    return answer instanceof RefusedError ? Number(answer.context["status"]) : 0;
  };
  const isRefused = async (request: KubeRequest): Promise<boolean> => (await statusOf(request)) === 403;
  /** What it may do by itself, or as somebody, everywhere and in these places besides. */
  const reachOf = async (what: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly string[]> => {
    const everywhere = await rightsOf(stolen, "default", headers);
    const lines = [what, "  in any namespace", ...linesOf(everywhere, anybody)];
    for (const namespace of PLACES) {
      const more = linesOf(await rightsOf(stolen, namespace, headers), everywhere);
      if (more.length > 0) lines.push(`  in ${namespace} besides`, ...more);
    }
    return lines;
  };
  const askedOf = async (attacks: Readonly<Record<string, KubeRequest>>): Promise<readonly string[]> =>
    Promise.all(
      Object.entries(attacks).map(async ([what, request]) => `    ${(await isRefused(request)) ? "refused" : "ALLOWED"}: ${what}`),
    );

  it("may do what the golden file says, and no more", async () => {
    const secrets = Object.fromEntries(
      PLACES.map((namespace) => [`read a Secret of ${namespace}`, at(SECRETS, { namespace, name: "secret" })]),
    );
    const owner = { "impersonate-user": user(0) };
    const lines = [
      ...(await reachOf("by itself")),
      "  asked",
      ...(await askedOf({ ...RUNNING, ...GROWING, ...READING, ...WRITING, ...secrets })),
      ...(await reachOf(`as the account that deploys into ${HELD}`, owner)),
    ];
    const text = `${lines.join("\n")}\n`;
    if (isWriting) writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, "utf8"));
  });

  it("reads as before when Argosy's roles are installed again", async () => {
    const rules = async () => (await createReaderRole(cluster.admin).read(never))?.rules;
    const before = await rules();
    await applyObjects(cluster.admin, renderApiClusterBase(), never);
    expect(await rules()).toEqual(before);
  });

  const attacks = { ...RUNNING, ...GROWING, ...READING, ...WRITING };
  it.each(Object.keys(attacks))("cannot %s", async (what) => {
    expect(await statusOf(attacks[what] as KubeRequest)).toBe(403);
  });

  const withinReach = { ...RUNNING, ...GROWING };
  const unheld = Object.keys(withinReach).filter((what) => withinReach[what]?.headers?.["impersonate-user"] === undefined);
  it.each(unheld)("cannot %s as the account of the unit it holds, while that is the owner", async (what) => {
    expect(await statusOf(as(user(0), withinReach[what] as KubeRequest))).toBe(403);
  });

  it("deploys into its workspace as that account, and nowhere else", async () => {
    expect(await isRefused(as(user(0), WRITING["write into its workspace"] as KubeRequest))).toBe(false);
    expect(await isRefused(as(user(0), WRITING["write into another workspace"] as KubeRequest))).toBe(true);
    for (const namespace of PLACES.filter((each) => each !== HELD))
      expect(await isRefused(as(user(0), at(SECRETS, { namespace, name: "secret" })))).toBe(true);
  });

  it("does nothing as that account once the owner binding is empty", async () => {
    const reconciler = await cluster.as(accountOfRole("reconciler"));
    const { subjects } = (await cluster.admin.get<KubeObject & { readonly subjects: unknown }>(ROLE_BINDINGS, ownerBinding, never)) ?? {};
    await reconciler.jsonPatch(ROLE_BINDINGS, ownerBinding, [{ op: "add", path: "/subjects", value: [] }], never);
    const asOwner = { "impersonate-user": user(0) };
    await vi.waitFor(async () => expect(linesOf(await rightsOf(stolen, HELD, asOwner), anybody)).toEqual([]), { timeout: 60_000 });
    for (const request of [...Object.values(WRITING), ...unheld.map((what) => withinReach[what] as KubeRequest)])
      expect(await statusOf(as(user(0), request))).toBe(403);
    expect(await isRefused(as(user(0), at(SECRETS, { namespace: HELD, name: "secret" })))).toBe(true);
    await reconciler.jsonPatch(ROLE_BINDINGS, ownerBinding, [{ op: "add", path: "/subjects", value: subjects }], never);
  });
});
