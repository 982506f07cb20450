import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AuditRecord } from "../domain/audit.ts";
import { createAuditCheck } from "../domain/audit-check.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { aDecision, aFleet, anInstance, aPool } from "../store/testing/builders.ts";
import type { ApiDeps } from "./port.ts";
import { idleDeps, type Served, serveApi } from "./testing/served.ts";

const reason = "as ordered by the people who look after it";
const WAIT = { timeout: 30_000, interval: 10 };
const soon = () => AbortSignal.timeout(30_000);

/** A document that says how many instances there may be, and may hold whatever else. */
const parseFleet: ApiDeps["parseFleet"] = (document) => {
  const { max } = document as { readonly max?: number };
  const complaints = [{ path: "max", message: "is missing", remedy: "Give it" }];
  return max === undefined
    ? { ok: false, complaints }
    : { ok: true, saysGroups: true, spec: aFleet({ pools: [aPool("standard", { instances: { min: 1, max } })] }) };
};

describe("the audit trail of the REST API", () => {
  const clock = createVirtualClock(0);
  let served: Served;
  beforeEach(async () => {
    served = await serveApi((store) => ({ ...idleDeps(store), clock, parseFleet, approvals: { fleet: "nobody" } }));
    await served.store.fleet.insertInstance(anInstance({ name: "standard-1", state: "ACTIVE" }), aDecision(), soon());
  });
  afterEach(() => served.close());

  const records = (): Promise<readonly AuditRecord[]> => served.store.audit.list({}, { limit: 1000, order: "oldest-first" }, soon());
  const settled = (count: number) => vi.waitFor(async () => expect(await records()).toHaveLength(count), WAIT);
  const cordon = (role: "viewer" | "operator", cordoned = true) =>
    served.call("PUT", "/v1/instances/standard-1/cordon", { role, body: { cordoned, reason } });
  const unknown = (path = "/v1/instances", token = "argosy_unknown_0123456789") =>
    fetch(`${served.url}${path}`, { headers: { authorization: `Bearer ${token}` } });

  it("has a change before it is made, and how it ended", async () => {
    expect(await cordon("operator")).toMatchObject({ status: 200 });
    const said = { actor: "otto", via: "rest", role: "operator", remote: "127.0.0.1", target: "/v1/instances/standard-1/cordon" };
    expect(await records()).toMatchObject([
      { seq: 1, ...said, outcome: "asked", details: { body: { cordoned: true, reason } } },
      { seq: 2, ...said, outcome: "ok", code: "", answers: 1, details: {} },
    ]);
    expect((await records())[0]?.action).toBe((await records())[1]?.action);
  });

  it("has what was refused by its handler, and what failed", async () => {
    await served.call("PUT", "/v1/instances/nobody/cordon", { body: { cordoned: true, reason } });
    await served.call("POST", "/v1/plans", { body: { goal: "rebalance" } });
    const found = await records();
    expect(found.map(({ outcome }) => outcome)).toEqual(["asked", "refused", "asked", expect.stringMatching(/failed|refused/)]);
    expect(found[1]).toMatchObject({ code: "api.no-instance", answers: 1 });
  });

  it("has every route that is no read, whatever is added to the API", async () => {
    const { paths } = (await (await fetch(`${served.url}/openapi.json`)).json()) as { paths: Record<string, Record<string, object>> };
    const writes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method !== "get")
        .map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/[{}]/g, "x") })),
    );
    expect(writes.length).toBeGreaterThan(15);
    // Whether it is let in, refused for its body or for what it is about: it is recorded.
    for (const { method, path } of writes) await served.call(method, path, { role: "approver", body: { reason } });
    await vi.waitFor(async () => {
      const actions = new Set((await records()).map(({ action }) => action));
      const operations = Object.values(paths).flatMap((methods) => Object.entries(methods).filter(([method]) => method !== "get"));
      expect(
        operations.map(([, operation]) => (operation as { operationId: string }).operationId).filter((id) => !actions.has(id)),
      ).toEqual([]);
    }, WAIT);
  });

  it("has no reads", async () => {
    await served.call("GET", "/v1/instances", { role: "viewer" });
    await served.call("GET", "/v1/audit", { role: "approver" });
    await cordon("operator");
    expect((await records()).map(({ action }) => action)).not.toContain("listInstances");
    expect(await records()).toHaveLength(2);
  });

  it("has refused tokens and roles: 401 by nobody, 403 with the name of the token", async () => {
    expect((await unknown()).status).toBe(401);
    expect(await cordon("viewer")).toMatchObject({ status: 403 });
    expect(await served.call("GET", "/v1/audit", { role: "operator" })).toMatchObject({ status: 403 });
    await settled(3);
    expect((await records()).toSorted((a, b) => (a.action < b.action ? -1 : 1))).toMatchObject([
      { actor: "vera", role: "viewer", code: "api.role", target: "/v1/instances/:instance/cordon" },
      { actor: "otto", role: "operator", action: "listAudit", outcome: "refused", code: "api.role" },
      { actor: "unauthenticated", role: undefined, action: "listInstances", outcome: "refused", code: "api.no-token", remote: "127.0.0.1" },
    ]);
  });

  it("is not flooded by a caller whose token nobody knows, whatever it asks for", async () => {
    for (let index = 0; index < 100; index += 1) await unknown(`/v1/workspaces/w-${index}/export`);
    expect((await records()).map(({ count }) => count)).toEqual([1]);
    await clock.advance(5 * 60_000);
    await settled(2);
    expect(await records()).toMatchObject([1, 99].map((count) => ({ target: "/v1/workspaces/:workspace/export", count })));
  });

  it("makes no refusal wait for a database that is lost", async () => {
    // Known tokens are remembered for a while: a refusal then needs no database.
    await cordon("viewer");
    await settled(1);
    vi.spyOn(served.store.audit, "append").mockImplementation(() => new Promise(() => {}));
    expect(await served.call("GET", "/v1/audit", { role: "viewer" })).toMatchObject({ status: 403 });
  });

  it("changes nothing that it cannot record", async () => {
    vi.spyOn(served.store.audit, "append").mockRejectedValueOnce(Object.assign(new Error("away")));
    expect((await cordon("operator")).status).toBeGreaterThanOrEqual(500);
    expect((await served.store.fleet.listInstances(soon())).map(({ state }) => state)).toEqual(["ACTIVE"]);
  });

  it("answers all the same where the outcome cannot be recorded, and shows what was asked for without answer", async () => {
    const { append } = served.store.audit;
    vi.spyOn(served.store.audit, "append").mockImplementation((entry, signal) =>
      entry.outcome === "asked" ? append(entry, signal) : Promise.reject(new Error("away")),
    );
    expect(await cordon("operator")).toMatchObject({ status: 200 });
    expect(await exported()).toMatchObject({ ok: true, unanswered: [1] });
  });

  it("holds no secret: neither tokens of headers, nor what a reason or a document gives away", async () => {
    // The first of all requests: another token would wait for the virtual clock.
    await unknown("/v1/instances?token=hunter2-hunter2", "argosy_hunter2_0123456789");
    const kubeconfig = "apiVersion: v1\nusers: [{user: {token: eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyb290In0.c2lnbmF0dXJl}}]";
    await served.call("PUT", "/v1/instances/standard-1/cordon", {
      body: { cordoned: true, reason: `use password=hunter2-hunter2 and ${kubeconfig}` },
    });
    await served.call("PUT", "/v1/fleet", { body: { max: 3, kubeconfig, notes: "hunter2-hunter2" } });
    await served.call("PUT", `/v1/fleet?dryRun=true`, { body: { kubeconfig } });
    await served.call("PUT", "/v1/instances/standard-1/cordon", { role: "viewer", body: { cordoned: true, reason: "hunter2-hunter2" } });
    await settled(9);
    const text = JSON.stringify(await records());
    expect(text).not.toMatch(/hunter2|eyJ|argosy_|0123456789/);
    expect(text).toContain("[redacted]");
  });

  it("has every declaration of the fleet with its whole difference", async () => {
    const declare = (max: number) => served.call("PUT", "/v1/fleet", { body: { max } });
    expect(await declare(3)).toMatchObject({ status: 200 });
    expect(await declare(5)).toMatchObject({ status: 200 });
    const found = await records();
    expect(found.map(({ action, actor, outcome }) => [action, actor, outcome])).toEqual(
      [1, 2].flatMap(() => [
        ["applyFleet", "otto", "asked"],
        ["declareFleet", "otto", "ok"],
        ["applyFleet", "otto", "ok"],
      ]),
    );
    expect(found[4]?.details).toEqual({
      revision: 2,
      changes: [{ path: "pools.standard", change: "changed", fields: [{ path: "instances.max", before: 3, after: 5 }] }],
    });
  });

  it("is read by page, by filter and whole, as lines that anybody can check", async () => {
    await cordon("operator");
    await cordon("operator", false);
    const get = (query: string) => served.call("GET", `/v1/audit?${query}`, { role: "approver" });
    expect((await get("limit=3")).body).toMatchObject({ items: [{ seq: 1 }, { seq: 2 }, { seq: 3 }], next: "3" });
    expect((await get("limit=3&after=3")).body).toMatchObject({ items: [{ seq: 4 }], next: "" });
    expect((await get("outcome=ok&order=newest-first")).body).toMatchObject({ items: [{ seq: 4 }, { seq: 2 }] });
    expect((await get("actor=nobody")).body).toMatchObject({ items: [] });
    expect(await get("after=x")).toMatchObject({ status: 422, body: { code: "api.audit-page" } });
    expect(await exported()).toMatchObject({ ok: true, records: 4, unanswered: [] });
  });

  async function exported() {
    const response = await fetch(`${served.url}/v1/audit`, {
      headers: { authorization: `Bearer ${served.token("approver")}`, accept: "application/x-ndjson" },
    });
    expect(response.headers.get("content-type")).toContain("application/x-ndjson");
    const check = createAuditCheck();
    for (const line of (await response.text()).trimEnd().split("\n")) check.add(line);
    return check.report();
  }
});
