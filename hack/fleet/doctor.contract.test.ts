import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readOwnAccount } from "../../src/api/doctor/ask-rights.ts";
import { examine } from "../../src/api/doctor/examine.ts";
import { readClassPolicy } from "../../src/api/doctor/read-class-policy.ts";
import { readEncryption } from "../../src/api/doctor/read-encryption.ts";
import { API_ACCOUNT, accountOfRole } from "../../src/cli/install/roles.ts";
import type { MemberId } from "../../src/domain/ids.ts";
import { ACCOUNTS_NAMESPACE, CLASS_LABELS_POLICY } from "../../src/domain/names.ts";
import { ROLES } from "../../src/domain/role.ts";
import { observePolicies } from "../../src/main/observe-policies.ts";
import { ROLE_BINDINGS } from "../../src/reconciler/adapters/kubernetes/types.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { NAMESPACES } from "../../src/runtime/kube/namespaces.ts";
import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import { realApiServer } from "../../src/runtime/kube/testing/real-api-server.ts";
import { aServerCertificate } from "../../src/runtime/testing/certificates.ts";
import { createMemoryStore } from "../../src/store/adapters/memory/memory-store.ts";
import { aFleet } from "../../src/store/testing/builders.ts";
import { type InstalledCluster, startInstalledCluster } from "./testing/installed-cluster.ts";

const never = new AbortController().signal;
const LONG_MS = 600_000;
const ONE_CLUSTER = aFleet({ engineClusters: [{ name: "local", region: "eu", access: { kind: "inCluster" } }] });

describe.runIf((await realApiServer()) !== undefined)("the doctor on a real API server", () => {
  let cluster: InstalledCluster;
  const clients = new Map<string, KubeClient>();
  beforeAll(async () => {
    cluster = await startInstalledCluster(never);
    for (const name of [...ROLES.map(accountOfRole), API_ACCOUNT, "nobody"]) clients.set(name, await cluster.as(name));
  });
  afterAll(() => cluster?.stop());

  /** What it finds about rights when it is asked as an account, while these members live, each under its account. */
  async function found(by: string, members: readonly (readonly [roles: readonly string[], account: string | undefined])[]) {
    const store = createMemoryStore({ clock: systemClock });
    await store.fleet.applyFleet(ONE_CLUSTER, "ada", never);
    for (const [index, [roles, account]] of members.entries()) {
      const id = `member-${index}` as MemberId;
      await store.members.heartbeat(id, roles, LONG_MS, never);
      const client = account === undefined ? undefined : clients.get(account);
      if (client !== undefined) await store.members.recordAccount(id, await readOwnAccount(client, never), never);
    }
    const client = clients.get(by) as KubeClient;
    const parts = { store, clock: systemClock, apiCluster: client, engineCluster: async () => client, isInApiCluster: true };
    const approvals = { fleet: "two-people" } as const;
    const checks = await examine(
      {
        ...{ ...parts, approvals, destination: { server: "https://127.0.0.1" } },
        ...{
          insideAddressesOf: async () => [],
          plainHttpAt: undefined,
          filterImage: undefined,
          hasOwnDatabase: true,
          reviewsTokens: false,
        },
        observePolicies: async ({ name }) => ({ cluster: name, unseen: "not tried" }),
      },
      never,
    );
    return checks.filter(({ name }) => name.startsWith("permissions"));
  }
  const byRole = ROLES.map((role) => [[role], accountOfRole(role)] as const);

  it("finds every right of each role's account, there and in the same cluster as one that hosts instances", async () => {
    const checks = await found(accountOfRole("api"), byRole);
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(checks.map(({ name }) => name)).toEqual([
      ...[...ROLES].sort().map((role) => `permissions on API cluster installed as argosy-${role}`),
      ...[...ROLES].sort().map((role) => `permissions on engine cluster local as argosy-${role}`),
    ]);
  });

  it("finds those of one account for all roles, in one check for each cluster", async () => {
    const checks = await found(API_ACCOUNT, [[ROLES, API_ACCOUNT]]);
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
      ["permissions on API cluster installed", true],
      ["permissions on engine cluster local", true],
    ]);
    expect(checks[0]?.detail).toBe("all there for system:serviceaccount:argosy-system:argosy-api-cluster (all roles)");
  });

  it("says which right is missing to which account, for which role, though whoever answers has it all", async () => {
    const checks = await found(API_ACCOUNT, [
      [ROLES, API_ACCOUNT],
      [["workspace"], "nobody"],
    ]);
    const missing = checks.filter(({ ok }) => !ok);
    expect(missing.map(({ name }) => name)).toEqual(["permissions on API cluster installed as nobody"]);
    expect(missing[0]?.detail).toMatch(/^missing for system:serviceaccount:argosy-system:nobody \(role workspace\): .*namespaces/);
  });

  it("finds a binding that somebody has deleted", async () => {
    const at = { namespace: ACCOUNTS_NAMESPACE, name: accountOfRole("reconciler") };
    const binding = await cluster.admin.get(ROLE_BINDINGS, at, never);
    await cluster.admin.delete(ROLE_BINDINGS, at, {}, never);
    const missing = (await found(accountOfRole("api"), byRole)).filter(({ ok }) => !ok);
    expect(missing.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/argosy-reconciler \(role reconciler\): .*in argosy-accounts/),
    ]);
    const { roleRef, subjects } = binding as unknown as Record<string, unknown>;
    const again = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: at, roleRef, subjects };
    await cluster.admin.create(ROLE_BINDINGS, again, never);
  });

  it("takes processes that have not said as whom they act for itself, as before", async () => {
    const checks = await found(API_ACCOUNT, [[ROLES, undefined]]);
    expect(checks.map(({ ok }) => ok)).toEqual([true, true]);
    expect((await found(API_ACCOUNT, [])).map(({ ok }) => ok)).toEqual([true, true]);
    expect((await found(accountOfRole("workspace"), [[["reconciler"], undefined]])).map(({ ok }) => ok)).toEqual([false, false]);
  });

  it("says so where whoever answers may not ask about others", async () => {
    const checks = await found(accountOfRole("health"), [[["health"], accountOfRole("health")]]);
    expect(checks[0]).toMatchObject({ ok: false, detail: expect.stringContaining("may not ask what others may do") });
  });
});

const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const SERVICE_ACCOUNTS: ResourceType = { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true };

describe.runIf((await realApiServer()) !== undefined)("what the doctor tries and reads with the rights of its account", () => {
  const namespace = "argosy-standard-1";
  /** Of this machine, and of no pod of a development cluster. */
  const address = "127.9.8.7";
  const listening = new Set<Server>();
  let cluster: InstalledCluster;
  let api: KubeClient;
  let nobody: KubeClient;
  beforeAll(async () => {
    cluster = await startInstalledCluster(never);
    [api, nobody] = [await cluster.as(accountOfRole("api")), await cluster.as("nobody")];
    await cluster.admin.apply(
      NAMESPACES,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      { fieldManager: "test" },
      never,
    );
    for (const each of [namespace, "kube-system"])
      await cluster.admin.apply(
        SERVICE_ACCOUNTS,
        { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: each } },
        { fieldManager: "test" },
        never,
      );
  });
  afterEach(() => {
    for (const server of listening) server.close();
    listening.clear();
  });
  afterAll(() => cluster?.stop());

  const addPod = async (at: { readonly namespace: string; readonly name: string }, labels: object, command: readonly string[] = ["run"]) =>
    cluster.admin.create<KubeObject>(
      PODS,
      {
        ...{ apiVersion: "v1", kind: "Pod", metadata: { ...at, labels } },
        spec: { automountServiceAccountToken: false, containers: [{ name: "main", image: "example/image", command: [...command] }] },
      } as unknown as KubeObject,
      never,
    );
  const setReady = (name: string, status: "True" | "False") =>
    cluster.admin.mergePatch(
      PODS,
      { namespace, name, subresource: "status" },
      { status: { podIP: address, podIPs: [{ ip: address }], conditions: [{ type: "Ready", status }] } },
      never,
    );
  const listen = async (server: Server, port: number): Promise<void> => {
    listening.add(server);
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, address, resolve));
  };
  /** A repo-server that says of itself whether it takes connections at the port for manifests. */
  const saysItWorks = (status: number) =>
    listen(
      createHttpServer((request, response) => void response.writeHead(request.url === "/healthz?full=true" ? status : 404).end()),
      8084,
    );
  const observe = (client: KubeClient, over: object = {}) =>
    observePolicies(
      {
        ...{ cluster: { name: "eu", region: "eu", access: { kind: "inCluster" } }, isInApiCluster: true },
        ...{ instances: [{ engineCluster: "eu", namespace, state: "ACTIVE" }], client: async () => client, ...over },
      },
      never,
    );

  it("finds an open policy by a connection, a closed one where the target says that it listens, and else nothing", async () => {
    const unseen = { cluster: "eu", unseen: "no repo-server of its instances says here that it works" };
    expect(await observe(api)).toEqual(unseen);
    await addPod({ namespace, name: "argocd-repo-server-a" }, { "app.kubernetes.io/name": "argocd-repo-server" });
    await setReady("argocd-repo-server-a", "False");
    await saysItWorks(200);
    expect(await observe(api)).toEqual(unseen);
    await setReady("argocd-repo-server-a", "True");
    const at = `${namespace}/argocd-repo-server-a`;
    expect(await observe(api)).toEqual({ cluster: "eu", outcome: "closed", at });
    await listen(createTlsServer(aServerCertificate(["localhost"])), 8081);
    expect(await observe(api)).toEqual({ cluster: "eu", outcome: "open", at });
  });

  it("takes a target that does not listen for no proof that policies are enforced", async () => {
    const unseen = { cluster: "eu", unseen: "no repo-server of its instances says here that it works" };
    await setReady("argocd-repo-server-a", "True");
    expect(await observe(api)).toEqual(unseen);
    await saysItWorks(503);
    expect(await observe(api)).toEqual(unseen);
  });

  it("takes a proxy that takes every connection and answers none for no proof of the contrary", async () => {
    await setReady("argocd-repo-server-a", "True");
    await saysItWorks(200);
    await listen(
      createServer((socket) =>
        socket
          .resume()
          .on("error", () => {})
          .destroy(),
      ),
      8081,
    );
    expect(await observe(api)).toMatchObject({ unseen: expect.stringContaining("no repo-server") });
  });

  it("says why it tries nothing", async () => {
    const why = async (client: KubeClient, over: object = {}) => ((await observe(client, over)) as { readonly unseen?: string }).unseen;
    expect(await why(nobody)).toBe("its pods cannot be listed");
    expect(await why(api, { isInApiCluster: false })).toBe("this process is no pod of it");
    expect(await why(api, { cluster: { name: "eu", region: "eu", access: { kind: "inCluster" }, reach: "proxy" } })).toBe(
      "this process is no pod of it",
    );
    expect(await why(api, { instances: [] })).toBe("it has no instance that works");
    expect(await why(api, { client: () => Promise.reject(new Error("away")) })).toBe("its pods cannot be listed");
  });

  it("reads whether labels that decide a class are kept from users", async () => {
    const at = { namespace: "", name: CLASS_LABELS_POLICY };
    const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };
    const bindings = { ...admission, plural: "validatingadmissionpolicybindings", kind: "ValidatingAdmissionPolicyBinding" };
    const policies = { ...admission, plural: "validatingadmissionpolicies", kind: "ValidatingAdmissionPolicy" };
    expect(await readClassPolicy(api, never)).toEqual({ kind: "in force" });
    expect(await readClassPolicy(nobody, never)).toMatchObject({ kind: "unseen" });
    const change = (spec: object) => cluster.admin.mergePatch(bindings, at, { spec }, never);
    await change({ validationActions: ["Audit"] });
    expect(await readClassPolicy(api, never)).toEqual({ kind: "weakened" });
    await change({ validationActions: ["Deny"], matchResources: { namespaceSelector: { matchLabels: { a: "b" } } } });
    expect(await readClassPolicy(api, never)).toEqual({ kind: "weakened" });
    await change({ matchResources: null });
    expect(await readClassPolicy(api, never)).toEqual({ kind: "in force" });
    await cluster.admin.delete(policies, at, {}, never);
    expect(await readClassPolicy(api, never)).toEqual({ kind: "away" });
  });

  it("reads from the pods of API servers whether they encrypt what is in etcd, where its account may", async () => {
    expect(await readEncryption(api, never)).toEqual({ cluster: "installed", unseen: "its API servers are no pods of kube-system" });
    const labels = { component: "kube-apiserver", tier: "control-plane" };
    await addPod({ namespace: "kube-system", name: "kube-apiserver-a" }, labels, [
      "kube-apiserver",
      "--encryption-provider-config=/etc/e.yaml",
    ]);
    expect(await readEncryption(api, never)).toEqual({ cluster: "installed", servers: 1, without: [] });
    await addPod({ namespace: "kube-system", name: "kube-apiserver-b" }, labels, ["kube-apiserver", "--secure-port=6443"]);
    expect(await readEncryption(api, never)).toEqual({ cluster: "installed", servers: 2, without: ["kube-apiserver-b"] });
    expect(await readEncryption(nobody, never)).toEqual({ cluster: "installed", unseen: "this account may not list pods of kube-system" });
  });
});
