import { randomInt, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { SeenProject } from "../domain/seen-project.ts";
import { issueCertificate } from "../runtime/certificate.ts";
import { systemClock } from "../runtime/clock.ts";
import { loadKubeconfig } from "../runtime/kube/auth.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { createKubeClient } from "../runtime/kube/http.ts";
import type { KubeObject, ResourceType } from "../runtime/kube/resource.ts";
import { realApiServer } from "../runtime/kube/testing/real-api-server.ts";
import { createSeededRng, systemRng } from "../runtime/rng.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { type FilterProxy, startProxy } from "./adapters/kubernetes/proxy.ts";
import { createUpstream } from "./adapters/kubernetes/upstream.ts";
import { createFilterController } from "./controller.ts";
import { type Cache, keepCache } from "./testing/cache.ts";
import { openTunnel, type Tunnel } from "./testing/tunnel.ts";

const kubeconfig = await realApiServer();
const core = (plural: string, kind: string, namespaced = true): ResourceType => ({ group: "", version: "v1", plural, kind, namespaced });
const CONFIG_MAPS = core("configmaps", "ConfigMap");
const SECRETS = core("secrets", "Secret");
const NAMESPACES = core("namespaces", "Namespace", false);
const ACCOUNTS = core("serviceaccounts", "ServiceAccount");
const BINDINGS = { ...core("clusterrolebindings", "ClusterRoleBinding", false), group: "rbac.authorization.k8s.io" };
const RUN = `filter-${randomUUID().slice(0, 8)}`;
const NAMES = ["a", "b", "c", "d"].map((name) => `${RUN}-${name}`);
const SEED = Number(process.env["ARGOSY_FUZZ_SEED"] ?? randomInt(1_000_000));

describe.skipIf(kubeconfig === undefined)("a filter in front of an API server", () => {
  const lifetime = new AbortController();
  const { signal } = lifetime;
  let client: KubeClient;
  let credentials: ReturnType<typeof loadKubeconfig>;
  let token: string;
  let filter: Filter;
  let tunnel: Tunnel;
  let caches: { readonly configMaps: Cache; readonly secrets: Cache };
  /** What the filter has said, and whatever was not in a cache when it said so or later. */
  const letIn = new Set<string>();
  const missed: string[] = [];

  interface Filter {
    readonly proxy: FilterProxy;
    readonly stop: () => Promise<void>;
  }
  let projects: readonly SeenProject[] = [];
  let tell: () => void = () => {};

  const want = (...names: readonly string[]): void => {
    for (const name of letIn) if (!names.includes(name)) letIn.delete(name);
    const before = new Map(projects.map((one) => [one.name, one]));
    projects = names.map((name) => before.get(name) ?? { name, uid: name, namespaces: [name], letIn: undefined });
    tell();
  };

  const check = (): void => {
    for (const [kind, cache] of Object.entries(caches ?? {}))
      for (const name of cache.lists() === 0 ? [] : letIn) if (!cache.objects.has(`${name}/kept`)) missed.push(`${kind} of ${name}`);
  };

  const start = async (holdMs = 0): Promise<Filter> => {
    const ending = new AbortController();
    const upstream = createUpstream(credentials);
    const controller = createFilterController({
      projects: {
        follow(onChange) {
          tell = () => onChange(projects);
          tell();
        },
        annotate: async (project, text) => {
          const at = projects.findIndex(({ name }) => name === project.name);
          const found = projects[at];
          if (found === undefined) return;
          projects = projects.with(at, { ...found, letIn: text === "" ? undefined : text });
          if (text === "") letIn.delete(found.name);
          else letIn.add(found.name);
          check();
          tell();
        },
      },
      ...{ log: silentLog, clock: systemClock, holdMs, settleMs: 200 },
    });
    controller.start(ending.signal);
    const certificate = issueCertificate({
      subject: { commonName: "filter" },
      from: Date.now() - 60_000,
      until: Date.now() + 3_600_000,
      purposes: ["server"],
    });
    const run = randomUUID().slice(0, 8);
    const proxy = await startProxy(
      { ...controller, upstream, run, certificate, log: silentLog, nowMs: () => systemClock.monotonicMs() },
      { host: "127.0.0.1", port: 0 },
    );
    const stop = async () => {
      ending.abort();
      await proxy.close();
      upstream.close();
    };
    return { proxy, stop };
  };

  const object = (type: ResourceType, namespace: string, name: string, value: string): KubeObject =>
    ({
      apiVersion: "v1",
      kind: type.kind,
      metadata: { namespace, name },
      data: { value: Buffer.from(value).toString("base64") },
    }) as KubeObject;
  const put = (type: ResourceType, namespace: string, name: string, value: string) =>
    client.apply(type, object(type, namespace, name, value), { fieldManager: "test" }, signal);

  /** What the server has of these namespaces, as a cache holds it. */
  const served = async (type: ResourceType, names: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const pages = await Promise.all(
      names.map((namespace) => client.listPage<KubeObject & { readonly data?: object }>(type, { namespace }, signal)),
    );
    const all = pages.flatMap(({ items }) => items);
    return new Map(all.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, JSON.stringify(one.data ?? {})]));
  };
  const areEqual = (names: readonly string[]) =>
    vi.waitFor(
      async () => {
        const own = ({ objects }: Cache) => new Map([...objects].filter(([key]) => names.some((name) => key.startsWith(`${name}/`))));
        expect(own(caches.configMaps)).toEqual(new Map(await served(CONFIG_MAPS, names)));
        expect(own(caches.secrets)).toEqual(new Map(await served(SECRETS, names)));
      },
      { timeout: 20_000, interval: 50 },
    );
  const isLetIn = (...names: readonly string[]) =>
    vi.waitFor(() => expect([...letIn]).toEqual(expect.arrayContaining([...names])), { timeout: 20_000, interval: 20 });

  beforeAll(async () => {
    credentials = loadKubeconfig({ file: kubeconfig ?? "" });
    client = createKubeClient({ clock: systemClock, rng: systemRng, metrics: noMetrics, cluster: "real", credentials });
    for (const name of NAMES) await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, signal);
    const [namespace = ""] = NAMES;
    await client.create(ACCOUNTS, { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name: "reader" } }, signal);
    const binding = {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name: RUN } },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "ServiceAccount", name: "reader", namespace }],
    };
    await client.create(BINDINGS, binding as KubeObject, signal);
    const issued = await client.request<{ readonly status: { readonly token: string } }>(
      {
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/serviceaccounts/reader/token`,
        body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
      },
      signal,
    );
    token = issued.status.token;
    for (const name of NAMES) for (const type of [CONFIG_MAPS, SECRETS]) await put(type, name, "kept", "kept");
    filter = await start();
    tunnel = openTunnel({ proxyPort: () => filter.proxy.port, server: credentials.server, token });
    const kept = (plural: string) => keepCache(tunnel, `/api/v1/${plural}`, { onChange: check, signal });
    caches = { configMaps: kept("configmaps"), secrets: kept("secrets") };
  });
  afterAll(async () => {
    for (const name of NAMES) await client?.delete(NAMESPACES, { namespace: "", name }, {}, signal);
    await client?.delete(BINDINGS, { namespace: "", name: RUN }, {}, signal);
    lifetime.abort();
    tunnel?.close();
    await filter?.stop();
    await client?.close("at-once");
  });

  it("answers lists and watches of the whole cluster with what is let in, and says when that is all there", async () => {
    const [a = "", b = ""] = NAMES;
    await vi.waitFor(() => expect([caches.configMaps.lists(), caches.secrets.lists()]).toEqual([1, 1]), { timeout: 20_000 });
    expect([...caches.configMaps.objects]).toEqual([]);
    want(a);
    await isLetIn(a);
    await areEqual([a]);
    const elsewhere = () => [...caches.configMaps.objects.keys()].filter((key) => !key.startsWith(`${a}/`));
    await put(CONFIG_MAPS, b, "out", "1");
    await put(CONFIG_MAPS, a, "in", "1");
    await areEqual([a]);
    expect(elsewhere()).toEqual([]);
  });

  it("hands on what a namespace has when it comes, without listing the cluster again", async () => {
    const [a = "", b = ""] = NAMES;
    const before = caches.configMaps.lists();
    want(a, b);
    await isLetIn(a, b);
    await areEqual([a, b]);
    await client.delete(CONFIG_MAPS, { namespace: b, name: "out" }, {}, signal);
    await areEqual([a, b]);
    expect(caches.configMaps.lists()).toBe(before);
  });

  it("hands on everything else as it is", async () => {
    const [, b = "", c = ""] = NAMES;
    const list = await tunnel.call({ path: `/api/v1/namespaces/${c}/configmaps` });
    expect(list).toMatchObject({
      status: 200,
      body: { metadata: { resourceVersion: expect.stringMatching(/^\d+$/) }, items: [{ metadata: { name: "kept" } }] },
    });
    const cluster = (await tunnel.call({ path: "/api/v1/namespaces" })).body as { readonly items: readonly KubeObject[] };
    expect(cluster.items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining([...NAMES]));
    const body = JSON.stringify(object(CONFIG_MAPS, b, "made", "1"));
    const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
    const path = `/api/v1/namespaces/${b}/configmaps`;
    expect(await tunnel.call({ method: "POST", path, headers, body })).toMatchObject({ status: 201 });
    const asOther = { ...headers, "impersonate-user": "nobody" };
    expect(await tunnel.call({ method: "POST", path, headers: asOther, body })).toMatchObject({ status: 403 });
    expect(await tunnel.call({ path: "/api/v1/configmaps", headers: { accept: "application/vnd.kubernetes.protobuf" } })).toMatchObject({
      status: 406,
    });
    expect(await tunnel.call({ path: "/api/v1/configmaps", headers: { "impersonate-user": "nobody" } })).toMatchObject({ status: 403 });
    expect(await tunnel.call({ path: "/api/v1/unknown" })).toMatchObject({ status: 404 });
  });

  it("makes a client list again that comes with a version which this filter did not give", async () => {
    const version = (await client.listPage(CONFIG_MAPS, { namespace: NAMES[0] ?? "" }, signal)).resourceVersion;
    expect(await tunnel.call({ path: `/api/v1/configmaps?watch=true&resourceVersion=${version}` })).toMatchObject({
      body: { type: "ERROR", object: { code: 410, reason: "Expired" } },
    });
  });

  it("never lets a client take an object for gone that is served, amid joins, leaves, writes and broken connections", async () => {
    const rng = createSeededRng(SEED);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(rng.next() * all.length)] as T;
    let wanted = NAMES.slice(0, 2);
    let restarts = 0;
    for (let step = 0; step < 80; step += 1) {
      const what = rng.next();
      if (what < 0.12) {
        const name = pick(NAMES);
        wanted = wanted.includes(name) ? wanted.filter((one) => one !== name) : [...wanted, name];
        want(...wanted);
      } else if (what < 0.2) caches.configMaps.cut();
      else if (what < 0.24) caches.secrets.cut();
      else if (what < 0.25 && restarts < 1) {
        restarts += 1;
        await filter.stop();
        filter = await start(4_000);
      } else {
        const [type, namespace, name] = [pick([CONFIG_MAPS, SECRETS]), pick(NAMES), `churn-${Math.floor(rng.next() * 4)}`];
        if (rng.next() < 0.35) await client.delete(type, { namespace, name }, {}, signal);
        else await put(type, namespace, name, String(step));
      }
    }
    want(...NAMES);
    await isLetIn(...NAMES);
    await areEqual(NAMES);
    expect(missed, `seed ${SEED}`).toEqual([]);
  }, 60_000);
});
