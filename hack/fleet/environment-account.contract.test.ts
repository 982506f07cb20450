import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Environment } from "../../src/domain/environment.ts";
import { RefusedError } from "../../src/domain/errors.ts";
import type { EnvironmentId, InstanceId, UnitId } from "../../src/domain/ids.ts";
import { ACCOUNTS_NAMESPACE, FIELD_MANAGER } from "../../src/domain/names.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { KubeClient, KubeRequest } from "../../src/runtime/kube/client.ts";
import { createKubeClient } from "../../src/runtime/kube/http.ts";
import { NAMESPACES } from "../../src/runtime/kube/namespaces.ts";
import { type KubeObject, type ResourceType, resourcePath } from "../../src/runtime/kube/resource.ts";
import { realApiServer } from "../../src/runtime/kube/testing/real-api-server.ts";
import { systemRng } from "../../src/runtime/rng.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";
import { clusterAccount, environmentOwnerBinding } from "../../src/workspace/environment/account-objects.ts";
import { createClusterAccounts } from "../../src/workspace/environment/adapters/kubernetes/cluster-accounts.ts";
import { CLUSTER_ROLE, ROLE } from "../../src/workspace/environment/adapters/kubernetes/cluster-bindings.ts";
import type { ProbeTarget } from "../../src/workspace/environment/port.ts";
import { buildSet } from "../dev-cluster/build.ts";
import { type KubernetesCluster, startKubernetes } from "../dev-cluster/kubernetes.ts";
import { openKube } from "./connect.ts";
import { linesOf, type Rights, rightsOf } from "./testing/rights-of.ts";

const GOLDEN = join(import.meta.dirname, "environment-account.golden.txt");
/** `ARGOSY_WRITE_GOLDEN=1 npm test …` writes the file again; review what changed. */
const isWriting = process.env["ARGOSY_WRITE_GOLDEN"] !== undefined;
const never = new AbortController().signal;

/** What the version before gave every account. */
const EVERYTHING_READ = [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }];
const HOLDER = { unitId: "unit-1" as UnitId, instanceId: "instance-1" as InstanceId, epoch: 1 };
const place = (id: string, namespaces: readonly string[]): Pick<Environment, "id" | "namespaces" | "clusterResources"> => ({
  id: id as EnvironmentId,
  namespaces,
  clusterResources: false,
});
const PLACES = { everywhere: place("environment-1", []), "in two namespaces": place("environment-2", ["web", "shop"]) };
type Where = keyof typeof PLACES;
const WHERES = Object.keys(PLACES) as readonly Where[];

const core = (plural: string, kind: string, namespaced = true): ResourceType => ({ group: "", version: "v1", plural, kind, namespaced });
const [PODS, SERVICES, NODES] = [core("pods", "Pod"), core("services", "Service"), core("nodes", "Node", false)];
const [SECRETS, ACCOUNTS] = [core("secrets", "Secret"), core("serviceaccounts", "ServiceAccount")];
const DEFINITIONS: ResourceType = {
  ...{ group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" },
  ...{ kind: "CustomResourceDefinition", namespaced: false },
};

const reading = (type: ResourceType, where: Parameters<typeof resourcePath>[1], query: KubeRequest["query"] = {}): KubeRequest => ({
  method: "GET",
  path: resourcePath(type, where),
  query,
});
const posting = (type: ResourceType, where: Parameters<typeof resourcePath>[1], body?: unknown): KubeRequest => ({
  method: "POST",
  path: resourcePath(type, where),
  ...(body === undefined ? {} : { body }),
});
const pod = (subresource: string) => ({ namespace: "web", name: "web", subresource });
const COMMAND = { command: "id", stdout: "true" };

/** What runs commands, or speaks with what runs. To RBAC, before Kubernetes 1.35, much of it is a `get`. */
const ATTACKS: Readonly<Record<string, KubeRequest>> = {
  "exec, as a read": reading(PODS, pod("exec"), COMMAND),
  exec: { ...posting(PODS, pod("exec")), query: COMMAND },
  "attach, as a read": reading(PODS, pod("attach")),
  attach: posting(PODS, pod("attach")),
  "port-forward, as a read": reading(PODS, pod("portforward")),
  "port-forward": posting(PODS, pod("portforward")),
  "proxy to a pod, as a read": reading(PODS, pod("proxy")),
  "proxy to a service, as a read": reading(SERVICES, pod("proxy")),
  "proxy to a service": posting(SERVICES, pod("proxy")),
  "read a pod's log": reading(PODS, pod("log")),
  "see a pod's containers for debugging": reading(PODS, pod("ephemeralcontainers")),
  "have a token of an account": posting(
    ACCOUNTS,
    { namespace: "web", name: "default", subresource: "token" },
    { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
  ),
  "proxy to a node, as a read": reading(NODES, { name: "node-1", subresource: "proxy" }),
  "read what a node's kubelet counts": reading(NODES, { name: "node-1", subresource: "stats" }),
  "read a node's metrics": reading(NODES, { name: "node-1", subresource: "metrics" }),
  "read a node's logs": reading(NODES, { name: "node-1", subresource: "log" }),
  "read the API server's metrics": { method: "GET", path: "/metrics" },
  "write a ConfigMap": posting(core("configmaps", "ConfigMap"), { namespace: "web" }, { apiVersion: "v1", kind: "ConfigMap" }),
};

/** What an instance has to list before it is the owner: what is in none of it, Argo CD would neither prune nor cascade. */
const LISTS = [
  ...["/api/v1/{}configmaps", "/api/v1/{}secrets", "/api/v1/{}services", "/api/v1/{}pods", "/api/v1/{}serviceaccounts"],
  ...["/api/v1/{}persistentvolumeclaims", "/api/v1/{}resourcequotas", "/apis/apps/v1/{}deployments", "/apis/batch/v1/{}cronjobs"],
  ...["/apis/networking.k8s.io/v1/{}ingresses", "/apis/autoscaling/v2/{}horizontalpodautoscalers", "/apis/shop.example/v1/{}orders"],
  ...["/apis/rbac.authorization.k8s.io/v1/{}rolebindings", "/apis/policy/v1/{}poddisruptionbudgets"],
];
const LISTS_OUTSIDE_NAMESPACES = [
  ...["/api/v1/namespaces", "/api/v1/nodes", "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/storageclasses"],
  ...["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/rbac.authorization.k8s.io/v1/clusterroles"],
  ...["/apis/apiregistration.k8s.io/v1/apiservices", "/apis/certificates.k8s.io/v1/certificatesigningrequests"],
  "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
];

describe.runIf((await realApiServer()) !== undefined)("whoever has the token of an account that is not the owner of an environment", () => {
  let kubernetes: KubernetesCluster;
  let admin: KubeClient;
  let target: ProbeTarget;
  let anybody: Rights;
  const directory = mkdtempSync(join(tmpdir(), "argosy-environment-account-"));
  const accounts = createClusterAccounts({ clock: systemClock, rng: systemRng, log: silentLog, reserved: async () => [] });
  const clients = new Map<Where, KubeClient>();
  const opened: KubeClient[] = [];
  const accountAt = (where: Where) => clusterAccount(PLACES[where], HOLDER);

  const open = (token: string): KubeClient => {
    const credentials = { server: kubernetes.server, ca: kubernetes.ca, token: async () => token };
    const client = createKubeClient({ cluster: "environment", credentials, clock: systemClock, rng: systemRng, metrics: noMetrics });
    opened.push(client);
    return client;
  };
  const tokenOf = async (at: { readonly namespace: string; readonly name: string }): Promise<string> => {
    const issued = await accounts.issueToken(target, { at }, 3_600_000, never);
    if (issued.kind !== "issued") throw new Error(`no token of ${at.name}: ${issued.why.kind}`);
    return issued.token.token;
  };
  const define = async (group: string, plural: string, kind: string): Promise<void> => {
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
    const definition = {
      ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: `${plural}.${group}` } },
      spec: {
        ...{ group, scope: "Namespaced", names: { plural, kind, singular: kind.toLowerCase() } },
        versions: [{ name: "v1", served: true, storage: true, schema, subresources: { status: {}, scale } }],
      },
    };
    await admin.apply(DEFINITIONS, definition as KubeObject, { fieldManager: "user" }, never);
    await vi.waitFor(() => admin.request({ method: "GET", path: `/apis/${group}/v1/${plural}` }, never), { timeout: 60_000 });
  };
  const install = async (where: Where) => {
    const installed = await accounts.install(target, { account: accountAt(where) }, never);
    if (installed.kind !== "installed") throw new Error(`making an account: ${installed.kind}`);
    return installed;
  };
  /** Gives an account what the version before gave it. */
  const widen = async (where: Where): Promise<void> => {
    for (const object of accountAt(where).objects) {
      const type = { Role: ROLE, ClusterRole: CLUSTER_ROLE }[object.kind];
      const wide = { ...object, rules: EVERYTHING_READ } as KubeObject;
      if (type !== undefined) await admin.apply(type, wide, { fieldManager: FIELD_MANAGER }, never);
    }
    await vi.waitFor(async () => expect(await statusOf(where, ATTACKS["read a pod's log"])).not.toBe(403), { timeout: 60_000 });
  };
  const narrowed = (where: Where) =>
    vi.waitFor(async () => expect(await statusOf(where, ATTACKS["read a pod's log"])).toBe(403), { timeout: 60_000 });

  beforeAll(async () => {
    const programs = await buildSet("kubernetes", {}, never);
    const components = ["etcd", "kube-apiserver"] as const;
    kubernetes = await startKubernetes({ name: "environment", directory, programs, components, endsWithUs: true }, never);
    admin = openKube(kubernetes.kubeconfig);
    opened.push(admin);
    const { server, ca } = kubernetes;
    const certificate = kubernetes.admin;
    target = { server, ca, certificate, isInsecure: false, namespace: undefined, egress: { allow: ["127.0.0.0/8"] } };
    for (const name of ["web", "shop", "other", "argosy-nobody"]) {
      await admin.apply(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, { fieldManager: "user" }, never);
      await admin.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: { namespace: name, name: "secret" } }, never);
    }
    for (const namespace of ["web", "argosy-nobody"])
      await admin.apply(
        ACCOUNTS,
        { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name: "default" } },
        { fieldManager: "user" },
        never,
      );
    await define("shop.example", "orders", "Order");
    anybody = await rightsOf(open(await tokenOf({ namespace: "argosy-nobody", name: "default" })), "default");
    for (const where of WHERES) {
      await install(where);
      clients.set(where, open(await tokenOf(accountAt(where).at)));
      await vi.waitFor(async () => expect(await statusOf(where, { method: "GET", path: "/api/v1/namespaces/web/pods" })).toBe(200), {
        timeout: 60_000,
      });
    }
  });
  afterAll(async () => {
    await Promise.all(opened.map((client) => client.close()));
    await kubernetes?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** 200 for whatever is neither refused nor missing, 0 for what is no HTTP answer to it. */
  const statusOf = async (where: Where, request: KubeRequest | undefined): Promise<number> => {
    if (request === undefined) throw new Error("no such request");
    try {
      await clients.get(where)?.request({ ...request, idempotent: false }, never);
      return 200;
    } catch (error) {
      return error instanceof RefusedError ? Number(error.context["status"]) : 0;
    }
  };
  const reachOf = async (where: Where, what: string): Promise<readonly string[]> => {
    const client = clients.get(where) as KubeClient;
    const everywhere = await rightsOf(client, "other");
    const lines = [`${what}, ${where}`, "  in any namespace", ...linesOf(everywhere, anybody)];
    for (const namespace of ["web", "shop"]) {
      const more = linesOf(await rightsOf(client, namespace), everywhere);
      if (more.length > 0) lines.push(`  in ${namespace} besides`, ...more);
    }
    const asked = await Promise.all(
      Object.entries(ATTACKS).map(
        async ([attack, request]) => `    ${(await statusOf(where, request)) === 403 ? "refused" : "ALLOWED"}: ${attack}`,
      ),
    );
    return [...lines, "  asked", ...asked];
  };

  const REACHED_BEFORE = ["read a pod's log", "proxy to a pod, as a read", "proxy to a service, as a read"];

  it.each(WHERES)("could by what the version before gave it, and cannot once it was visited, %s", async (where) => {
    await widen(where);
    for (const attack of REACHED_BEFORE) expect([attack, (await statusOf(where, ATTACKS[attack])) === 403]).toEqual([attack, false]);
    await install(where);
    await narrowed(where);
    expect(linesOf(await rightsOf(clients.get(where) as KubeClient, "web"), anybody).join()).not.toContain("*.*:");
  });

  it("may do what the golden file says, and no more: of the version before, and now", async () => {
    const lines: string[] = [];
    for (const where of WHERES) {
      await widen(where);
      lines.push(...(await reachOf(where, "of the version before")));
      await install(where);
      await narrowed(where);
      lines.push(...(await reachOf(where, "now")));
    }
    const text = `${lines.join("\n")}\n`;
    if (isWriting) writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, "utf8"));
  });

  it.each(WHERES.flatMap((where) => Object.keys(ATTACKS).map((attack) => [attack, where] as const)))(
    "cannot %s, %s",
    async (attack, where) => {
      expect(await statusOf(where, ATTACKS[attack])).toBe(403);
    },
  );

  it("lists what its instance has to know before it is the owner, and Secrets with it", async () => {
    const outside = [...LISTS.map((path) => path.replace("{}", "")), ...LISTS_OUTSIDE_NAMESPACES];
    for (const path of outside) expect([path, await statusOf("everywhere", { method: "GET", path })]).toEqual([path, 200]);
    for (const path of LISTS.map((each) => each.replace("{}", "namespaces/shop/")))
      expect([path, await statusOf("in two namespaces", { method: "GET", path })]).toEqual([path, 200]);
  });

  it("reads nothing outside its namespaces where some are listed", async () => {
    for (const path of [...LISTS.map((each) => each.replace("{}", "namespaces/other/")), ...LISTS_OUTSIDE_NAMESPACES])
      expect([path, await statusOf("in two namespaces", { method: "GET", path })]).toEqual([path, 403]);
  });

  it("reads a kind that is new in a group that was there, and those of a new group after the next visit, which says that there are others", async () => {
    const before = await install("everywhere");
    await define("shop.example", "carts", "Cart");
    expect(await statusOf("everywhere", { method: "GET", path: "/apis/shop.example/v1/carts" })).toBe(200);
    // Discovery of a definition is served a moment after the definition.
    expect(await install("everywhere")).toEqual(before);
    await define("late.example", "guests", "Guest");
    const list = { method: "GET", path: "/apis/late.example/v1/guests" } as const;
    expect(await statusOf("everywhere", list)).toBe(403);
    await vi.waitFor(async () => expect((await install("everywhere")).kindsMark).not.toBe(before.kindsMark), { timeout: 60_000 });
    await vi.waitFor(async () => expect(await statusOf("everywhere", list)).toBe(200), { timeout: 60_000 });
  });

  it.each(WHERES)("is narrowed apart from its owner binding: the role it reads by is the same with it and after it, %s", async (where) => {
    const binding = (epoch: number, instanceId?: InstanceId) =>
      environmentOwnerBinding(PLACES[where], { unitId: HOLDER.unitId, epoch }, instanceId);
    const account = accountAt(where);
    const installed = await accounts.install(target, { account, ownerBinding: binding(1, HOLDER.instanceId) }, never);
    const log = ATTACKS["read a pod's log"];
    await vi.waitFor(async () => expect(await statusOf(where, log)).not.toBe(403), { timeout: 60_000 });
    expect(await accounts.narrow(target, account, never)).toEqual({ kindsMark: (installed as { kindsMark?: string }).kindsMark });
    expect(await statusOf(where, log)).not.toBe(403);
    expect(await accounts.writeOwnerBinding(target, binding(2), never)).toEqual({ kind: "written" });
    await vi.waitFor(async () => expect(await statusOf(where, log)).toBe(403), { timeout: 60_000 });
    expect(await statusOf(where, ATTACKS["exec, as a read"])).toBe(403);
    const handed = await accounts.writeOwnerBinding(target, binding(3, HOLDER.instanceId), never);
    expect(handed).toEqual({ kind: "written", kindsMark: (installed as { kindsMark?: string }).kindsMark });
    await accounts.writeOwnerBinding(target, binding(4), never);
    await vi.waitFor(async () => expect(await statusOf(where, log)).toBe(403), { timeout: 60_000 });
  });

  it.each(WHERES)(
    "of the version before is narrowed while it is the owner still, and nothing is made for one that is not there, %s",
    async (where) => {
      await widen(where);
      expect(await accounts.narrow(target, accountAt(where), never)).toEqual({ kindsMark: expect.any(String) });
      await narrowed(where);
      const nobody = clusterAccount(PLACES[where], { ...HOLDER, instanceId: "instance-2" as InstanceId });
      expect(await accounts.narrow(target, nobody, never)).toEqual({});
      for (const { kind, metadata } of nobody.objects) {
        const type = { Role: ROLE, ClusterRole: CLUSTER_ROLE }[kind];
        const at = { namespace: metadata.namespace ?? "", name: metadata.name };
        if (type !== undefined) expect(await admin.get(type, at, never)).toBeUndefined();
      }
    },
  );

  it.each(WHERES)("reads nothing once the new owner has the right, unless a newer epoch prepares it again, %s", async (where) => {
    const listing = { method: "GET", path: "/api/v1/namespaces/web/configmaps" } as const;
    expect(await statusOf(where, listing)).toBe(200);
    const later = clusterAccount(PLACES[where], { ...HOLDER, epoch: 5 });
    await accounts.install(target, { account: later }, never);
    expect(await accounts.endReading(target, clusterAccount(PLACES[where], { ...HOLDER, epoch: 4 }), never)).toBeUndefined();
    expect(await statusOf(where, listing)).toBe(200);
    expect(await accounts.endReading(target, later, never)).toBeUndefined();
    await vi.waitFor(async () => expect(await statusOf(where, listing)).toBe(403), { timeout: 60_000 });
    expect(await admin.get(ACCOUNTS, later.at, never)).toBeDefined();
    await accounts.install(target, { account: later }, never);
    await vi.waitFor(async () => expect(await statusOf(where, listing)).toBe(200), { timeout: 60_000 });
  });

  it("stands in a namespace of its own, where it has no rights", () => {
    for (const where of WHERES) expect(accountAt(where).at.namespace).toBe(ACCOUNTS_NAMESPACE);
  });
});
