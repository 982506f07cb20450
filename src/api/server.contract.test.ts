import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FleetSpec } from "../domain/fleet.ts";
import { systemClock } from "../runtime/clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import type { Store } from "../store/port.ts";
import { aDecision, anInstance, aToken } from "../store/testing/builders.ts";
import { silentLog } from "../telemetry/log.ts";
import { createPromMetrics } from "../telemetry/prom-metrics.ts";
import { tokenHash } from "./auth.ts";
import type { ApiDeps } from "./port.ts";
import { type Api, createApi } from "./server.ts";
import { idleDeps } from "./testing/served.ts";

const VIEWER = "argosy_viewer_0123456789";
const OPERATOR = "argosy_operator_0123456789";
const SPEC = {
  engineClusters: [],
  pools: [{ name: "standard", instances: { min: 1, max: 2 }, capacity: { applications: 5_000, gitPerMinute: 1_000 } }],
  versions: { catalogue: [] },
  workspaces: { selector: { a: "b" } },
  deployments: { allowedGroups: [] },
} as unknown as FleetSpec;
const signal = AbortSignal.timeout(60_000);

describe("the REST API", () => {
  let store: Store;
  let api: Api;
  let url: string;
  let metrics: ReturnType<typeof createPromMetrics>;
  const deps = (): ApiDeps => ({
    ...idleDeps(store as MemoryStore),
    ...{ store, log: silentLog, metrics, clock: systemClock, version: "1.2.3", approvals: { fleet: "nobody" } },
    parseFleet: (document) =>
      (document as { readonly kind?: string }).kind === "Fleet"
        ? { ok: true, spec: SPEC, saysGroups: true }
        : { ok: false, complaints: [{ path: "kind", message: "is missing", remedy: "Give kind: Fleet" }] },
    planFleet: ({ pruned }) => pruned.map((pool) => ({ instance: `${pool}-1`, pool, change: "retired", units: 0, reason: "gone" })),
    readUsage: async (instances) => new Map(instances.map(({ id }) => [id, { clusterEntries: 3, controllerMemoryBytes: undefined }])),
    isSchedule: (text) => text.split(" ").length === 5,
    explain: () => ["because"],
    doctor: async () => [{ name: "database", ok: true, detail: "fine", remedy: "" }],
    metricsText: async () => ({ contentType: "text/plain", text: "argosy_up 1\n" }),
    readiness: async () => ({ ok: false, checks: [{ name: "database", ok: false, detail: "away" }] }),
  });
  beforeEach(async () => {
    metrics = createPromMetrics();
    store = createMemoryStore({ clock: systemClock });
    await store.tokens.put(aToken({ name: "vera", role: "viewer", hash: tokenHash(VIEWER) }), undefined, signal);
    await store.tokens.put(aToken({ name: "otto", role: "operator", hash: tokenHash(OPERATOR) }), undefined, signal);
    api = await createApi(deps());
    url = await api.listen({ host: "127.0.0.1", port: 0 });
  });
  afterEach(async () => {
    await api.close();
    await store.close();
  });

  const call = async (path: string, options: { readonly token?: string; readonly method?: string; readonly body?: unknown } = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: options.method ?? "GET",
      headers: {
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
    const text = await response.text();
    return { status: response.status, type: response.headers.get("content-type") ?? "", text, json: (): unknown => JSON.parse(text) };
  };

  it("answers health, version and its own description without a token", async () => {
    expect((await call("/healthz")).json()).toEqual({ ok: true });
    expect(await call("/readyz")).toMatchObject({ status: 503 });
    expect((await call("/v1/version")).json()).toEqual({ version: "1.2.3" });
    expect((await call("/openapi.json")).json()).toMatchObject({
      openapi: "3.1.0",
      paths: { "/v1/instances": { get: expect.anything() } },
    });
  });

  it("shows its metrics to nobody who has no token", async () => {
    expect(await call("/metrics")).toMatchObject({ status: 401, text: expect.not.stringContaining("argosy_up") });
    expect((await call("/metrics", { token: VIEWER })).text).toBe("argosy_up 1\n");
  });

  it.each(["/v1/instances", "/v1/workspaces", "/v1/applications", "/v1/operations", "/v1/decisions", "/v1/doctor"])(
    "shows %s to a viewer and to nobody else",
    async (path) => {
      expect(await call(path, { token: VIEWER })).toMatchObject({ status: 200 });
      const refused = await call(path, { token: "argosy_unknown_0123456789" });
      expect(refused).toMatchObject({ status: 401, type: expect.stringContaining("application/problem+json") });
      expect(refused.json()).toMatchObject({ code: "api.no-token", detail: expect.stringContaining("argosy token create") });
    },
  );

  it("lets an operator declare the fleet and a viewer not", async () => {
    expect(await call("/v1/fleet", { method: "PUT", token: VIEWER, body: { kind: "Fleet" } })).toMatchObject({ status: 403 });
    expect((await call("/v1/fleet", { method: "PUT", token: OPERATOR, body: { kind: "Fleet" } })).json()).toMatchObject({
      changed: true,
      pools: ["standard"],
      dryRun: false,
    });
    expect((await call("/v1/fleet", { method: "PUT", token: OPERATOR, body: { kind: "Fleet" } })).json()).toMatchObject({ changed: false });
    expect((await store.fleet.readFleet(signal))?.spec).toEqual(SPEC);
  });

  it("changes nothing in a dry run", async () => {
    expect((await call("/v1/fleet?dryRun=true", { method: "PUT", token: OPERATOR, body: { kind: "Fleet" } })).json()).toMatchObject({
      changed: true,
      dryRun: true,
    });
    expect(await store.fleet.readFleet(signal)).toBeUndefined();
  });

  it("says what differs from what was declared", async () => {
    const put = async (query = "") => (await call(`/v1/fleet${query}`, { method: "PUT", token: OPERATOR, body: { kind: "Fleet" } })).json();
    const added = { path: "pools.standard", change: "added", fields: [] };
    expect(await put("?dryRun=true")).toMatchObject({ revision: 0, changes: expect.arrayContaining([added]) });
    expect(await put()).toMatchObject({ changes: expect.arrayContaining([added]) });
    expect(await put()).toMatchObject({ changes: [] });
  });

  it("removes pools that a document leaves out only when asked to, and says beforehand what that does", async () => {
    const put = async (query = "") => (await call(`/v1/fleet${query}`, { method: "PUT", token: OPERATOR, body: { kind: "Fleet" } })).json();
    await store.fleet.insertInstance(anInstance({ name: "old-1", pool: "old" }), aDecision(), signal);
    await put();
    const planned = { instance: "old-1", pool: "old", change: "retired", units: 0, reason: "gone" };
    expect(await put()).toMatchObject({ changed: false, instances: [] });
    expect(await put("?prune=true&dryRun=true")).toMatchObject({ changed: true, revision: 1, instances: [planned] });
    expect((await store.fleet.readFleet(signal))?.pruned).toEqual([]);
    expect(await put("?prune=true")).toMatchObject({ changed: true, revision: 2, instances: [planned] });
    expect((await store.fleet.readFleet(signal))?.pruned).toEqual(["old"]);
    expect(await put("?prune=true")).toMatchObject({ changed: false, revision: 2 });
  });

  it("measures what instances cost when asked to", async () => {
    await store.fleet.insertInstance(anInstance({ name: "one" }), aDecision(), signal);
    const list = async (query = "") => (await call(`/v1/instances${query}`, { token: VIEWER })).json();
    expect(await list()).toMatchObject({ items: [{ name: "one", clusterEntries: null, controllerMemoryBytes: null }] });
    expect(await list("?usage=true")).toMatchObject({ items: [{ name: "one", clusterEntries: 3, controllerMemoryBytes: null }] });
  });

  it("counts answers by route and status, and unknown paths as one", async () => {
    await call("/v1/instances", { token: VIEWER });
    await call("/v1/instances");
    await call("/etc/passwd");
    await expect
      .poll(() => metrics.text())
      .toEqual(expect.stringContaining('argosy_api_requests_total{route="none",method="any",status="404"} 1'));
    const text = await metrics.text();
    expect(text).toContain('argosy_api_requests_total{route="/v1/instances",method="GET",status="200"} 1');
    expect(text).toContain('argosy_api_requests_total{route="/v1/instances",method="GET",status="401"} 1');
  });

  it("gives every complaint about a fleet document with path and remedy", async () => {
    const refused = await call("/v1/fleet", { method: "PUT", token: OPERATOR, body: {} });
    expect(refused).toMatchObject({ status: 422, type: expect.stringContaining("application/problem+json") });
    expect(refused.json()).toMatchObject({
      code: "fleet.invalid",
      complaints: [{ path: "kind", message: "is missing", remedy: "Give kind: Fleet" }],
    });
  });

  it.each([
    ["/v1/nothing", 404, "api.no-route"],
    ["/v1/explain/nobody", 404, "api.no-workspace"],
    ["/v1/workspaces?limit=0", 400, "api.invalid-request"],
    ["/v1/operations?state=Lost", 400, "api.invalid-request"],
    ["/v1/workspaces?namespace=a%00b", 422, "api.bad-character"],
    ["/v1/explain/a%00b", 422, "api.bad-character"],
  ])("answers %s with a problem that says what is wrong", async (path, status, code) => {
    const answer = await call(path, { token: OPERATOR });
    expect(answer).toMatchObject({ status, type: expect.stringContaining("application/problem+json") });
    expect(answer.json()).toMatchObject({ status, code });
  });

  it.each([
    ["/v1/moves?workspaces=team", "workspaces", "is no parameter of this request: did you mean workspace?"],
    ["/v1/instances?pool=standard", "pool", "is no parameter of this request, which takes usage"],
    ["/v1/whoami?all=true", "all", "is no parameter of this request, which takes none"],
    ["/v1/plans?limit=3&goal=drain", "goal", "is no parameter of this request, which takes limit"],
    ["/v1/decisions?kind=plan&since=2026-11-27T00:00:00Z&who=otto", "who", "is no parameter of this request, which takes "],
  ])("refuses %s: a list that looks filtered and is not would mislead", async (path, parameter, message) => {
    const answer = await call(path, { token: OPERATOR });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.json()).toMatchObject({
      code: "api.invalid-request",
      complaints: [{ path: parameter, message: expect.stringContaining(message) }],
    });
  });

  it("takes the parameters of pages for every list, and any for a probe", async () => {
    for (const path of ["/v1/instances?limit=10&after=", "/v1/freezes?limit=1000&after=x", "/healthz?verbose=1"])
      expect((await call(path, { token: OPERATOR })).status, path).toBe(200);
  });

  it("refuses a body that is no JSON and one that is too large", async () => {
    const send = (body: string) =>
      fetch(`${url}/v1/fleet`, {
        method: "PUT",
        headers: { authorization: `Bearer ${OPERATOR}`, "content-type": "application/json" },
        body,
      });
    expect((await send("{")).status).toBe(400);
    expect((await send(JSON.stringify("x".repeat(2_000_000)))).status).toBe(413);
  });

  it("names the port when it is taken", async () => {
    const other = await createApi(deps());
    const port = Number(new URL(url).port);
    await expect(other.listen({ host: "127.0.0.1", port })).rejects.toMatchObject({
      code: "api.port-busy",
      message: expect.stringContaining(`${port}`),
    });
    await other.close();
  });
});

describe("the REST API that closes", () => {
  /** An API whose readiness is answered when the test says so. */
  async function aSlowApi() {
    const store = createMemoryStore({ clock: systemClock });
    const answering = Promise.withResolvers<Awaited<ReturnType<ApiDeps["readiness"]>>>();
    const asked = Promise.withResolvers<void>();
    const api = await createApi({
      ...idleDeps(store),
      readiness: () => {
        asked.resolve();
        return answering.promise;
      },
    });
    const url = await api.listen({ host: "127.0.0.1", port: 0 });
    const running = fetch(`${url}/readyz`).then(({ status }) => status);
    running.catch(() => {});
    await asked.promise;
    return { api, url, running, store, answer: () => answering.resolve({ ok: true, checks: [] }) };
  }

  it("answers what is under way, takes nothing new, and ends then", async () => {
    const { api, url, running, store, answer } = await aSlowApi();
    const closed = api.close(signal);
    await vi.waitFor(async () => expect((await fetch(`${url}/healthz`).catch(() => "refused")) === "refused").toBe(true), WAIT);
    answer();
    expect(await running).toBe(200);
    await closed;
    await store.close();
  });

  it("cuts off what takes longer than it may", async () => {
    const { api, running, store } = await aSlowApi();
    const limit = new AbortController();
    const closed = api.close(limit.signal);
    limit.abort();
    await expect(running).rejects.toThrow();
    await closed;
    await store.close();
  });
});

const WAIT = { timeout: 30_000, interval: 10 };
