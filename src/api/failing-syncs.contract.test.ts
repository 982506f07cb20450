import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anEngineStatus, aStatus } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { type Served, serveApi } from "./testing/served.ts";

const AT = "2026-01-01T00:00:00Z";
const RETRIED = {
  ...{ phase: "Running", startedAt: AT, finishedAt: AT, retryCount: 4, message: "failed with https://me:hunter22@git.example/x" },
  syncResult: { revision: "abc", resources: [{ kind: "ConfigMap", name: "Bad", status: "SyncFailed", message: "invalid" }] },
};

describe("syncs that fail", () => {
  let served: Served;
  let instance: string;
  beforeAll(async () => {
    served = await serveApi();
    const { deploy, store } = createWorld(served.store);
    const said = async (namespace: string, name: string, operationState: Readonly<Record<string, unknown>>) => {
      const { applicationId, instanceId, epoch } = await deploy({ namespace, name });
      const status = anEngineStatus({ operationState, conditions: [], sync: { status: "OutOfSync", revision: "abc" } });
      await store.statuses.recordStatuses([aStatus({ applicationId, instanceId, epoch }, { status })], AbortSignal.timeout(5000));
      return instanceId;
    };
    const owner = await said("a", "retried", RETRIED);
    await said("b", "failed", { phase: "Failed", message: "no" });
    await said("c", "running", { phase: "Running", startedAt: AT, message: "waiting" });
    await said("d", "done", { phase: "Succeeded" });
    instance = (await store.fleet.readInstance(owner, AbortSignal.timeout(5000)))?.name ?? "";
  });
  afterAll(() => served.close());

  const get = async (path: string) => (await served.call("GET", path)).body as { readonly items: readonly Record<string, unknown>[] };
  const syncs = (items: readonly Record<string, unknown>[]) =>
    items.filter(({ kind }) => kind === "sync").map(({ subjectName, state, attempts }) => [subjectName, state, attempts]);

  it("are told with the application, without credentials", async () => {
    const { items } = await get("/v1/applications?namespace=a");
    expect(items).toMatchObject([
      { failure: { since: AT, attempt: 5 }, operation: { phase: "Running", startedAt: AT, finishedAt: AT, attempt: 5, revision: "abc" } },
    ]);
    expect(JSON.stringify(items)).toContain("ConfigMap Bad: invalid");
    expect(JSON.stringify(items)).not.toContain("hunter22");
    expect((await get("/v1/applications?namespace=c")).items).toMatchObject([{ failure: null, operation: { phase: "Running" } }]);
  });

  it("are operations beside those of rows, by state, workspace and page", async () => {
    expect(syncs((await get("/v1/operations?state=Failed")).items)).toEqual([
      ["a/retried", "Failed", 5],
      ["b/failed", "Failed", 1],
    ]);
    expect(syncs((await get("/v1/operations?state=In_Progress")).items)).toEqual([["c/running", "In_Progress", 1]]);
    expect(syncs((await get("/v1/operations?state=Completed")).items)).toEqual([]);
    expect(syncs((await get("/v1/operations?namespace=b")).items)).toEqual([["b/failed", "Failed", 1]]);
    const all = (await get("/v1/operations")).items.map(({ id }) => id);
    const paged: unknown[] = [];
    for (let after = ""; ; ) {
      const { items, next } = (await get(`/v1/operations?limit=2&after=${encodeURIComponent(after)}`)) as Awaited<
        ReturnType<typeof get>
      > & {
        readonly next: string;
      };
      paged.push(...items.map(({ id }) => id));
      if (next === "") break;
      after = next;
    }
    expect(paged).toEqual(all);
    expect(new Set(all).size).toBe(all.length);
  });

  it("stand below how instances are, and in what explains a workspace", async () => {
    const health = (await served.call("GET", "/v1/health")).body as { readonly failingSyncs: readonly Record<string, unknown>[] };
    expect(health.failingSyncs.map(({ application }) => application)).toEqual(["a/retried", "b/failed"]);
    expect(health.failingSyncs[0]).toMatchObject({
      text: expect.stringMatching(/^cannot sync since 2026-01-01T00:00:00Z, attempt 5, the operation is Running: .*ConfigMap Bad: invalid/),
    });
    const own = (await served.call("GET", `/v1/health/${instance}`)).body as typeof health;
    expect(own.failingSyncs.map(({ application }) => application)).toContain("a/retried");
    const { text } = (await served.call("GET", "/v1/explain/a")).body as { readonly text: readonly string[] };
    expect(text.at(-1)).toMatch(/^ {2}application a\/retried cannot sync since/);
  });
});
