import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WorkspaceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { aDecision, aFleet, anInstance, anIntent, aPool, WIDE } from "../../store/testing/builders.ts";
import { type Served, serveApi } from "../testing/served.ts";

const signal = AbortSignal.timeout(60_000);
const reason = "its users asked";
const GOLD = { class: { region: "eu", tier: "gold", trust: "public" } };
const INSIDE = { class: { region: "eu", tier: "shared", trust: "internal" } };

describe("orders about workspaces and instances", () => {
  let served: Served;
  let workspaceId: WorkspaceId;
  beforeEach(async () => {
    served = await serveApi();
    const intent = anIntent({ namespace: "shop" });
    workspaceId = intent.newIds.workspaceId;
    await served.store.intents.recordDeployments([intent], signal);
    await add({ name: "standard-1" });
  });
  afterEach(() => served.close());

  const add = async (over: Partial<Instance>): Promise<Instance> => {
    const instance = anInstance(over);
    await served.store.fleet.insertInstance(instance, aDecision({ subject: instance.id, kind: "instance" }), signal);
    return instance;
  };
  const instanceNamed = async (name: string) => (await served.store.fleet.listInstances(signal)).find((one) => one.name === name);
  const journal = async (subject: string) => served.store.decisions.list({ subject }, 10, signal);

  it.each([
    ["PUT", "/v1/workspaces/shop/pin", { instance: "standard-1", reason }],
    ["PUT", "/v1/workspaces/shop/hold", { seconds: 60, reason }],
    ["PUT", "/v1/workspaces/shop/class", { class: null, reason }],
    ["PUT", "/v1/instances/standard-1/cordon", { cordoned: true, reason }],
    ["PUT", "/v1/freezes/launch", { seconds: 3600, reason }],
    ["DELETE", "/v1/freezes/launch", undefined],
  ])("%s %s is for operators", async (method, path, body) => {
    expect(await served.call(method, path, { role: "viewer", body })).toMatchObject({ status: 403, body: { code: "api.role" } });
  });

  it("pin to an instance and to a pool, say who did and why, and take it back", async () => {
    const pinned = await served.call("PUT", "/v1/workspaces/shop/pin", { body: { instance: "standard-1", reason } });
    expect(pinned).toMatchObject({ status: 200, body: { pin: { instance: "standard-1", pool: null, actor: "otto", reason }, hold: null } });
    expect(await served.store.directives.read(workspaceId, signal)).toMatchObject({ pin: { kind: "instance" } });
    const pooled = await served.call("PUT", "/v1/workspaces/shop/pin", { body: { pool: "standard", reason } });
    expect(pooled.body["pin"]).toMatchObject({ instance: null, pool: "standard" });
    const free = await served.call("PUT", "/v1/workspaces/shop/pin", { body: { reason } });
    expect(free.body).toEqual({ pin: null, hold: null, assigned: null });
    expect(await journal(workspaceId)).toMatchObject([
      { verdict: "UNPINNED", rule: "COMMAND", details: { actor: "otto", reason, namespace: "shop" } },
      { verdict: "PINNED", details: { pool: "standard" } },
      { verdict: "PINNED", details: { instance: "standard-1" } },
    ]);
  });

  it("assign a class that a pool has, which is shown with the explanation, and take it back", async () => {
    await served.store.fleet.applyFleet(aFleet({ pools: [aPool("standard"), aPool("gold", GOLD)] }), "ada", signal);
    const to = await served.call("PUT", "/v1/workspaces/shop/class", { body: { class: "eu/gold/public", reason } });
    expect(to).toMatchObject({
      status: 200,
      body: { pin: null, hold: null, assigned: { class: "eu/gold/public", actor: "otto", reason } },
    });
    const { body } = await served.call("GET", "/v1/explain/shop");
    expect(body).toMatchObject({ directive: { assigned: { class: "eu/gold/public", reason } }, decisions: [{ verdict: "ASSIGNED" }] });
    expect(body).toMatchObject({ quota: { classes: ["eu/shared/public"], deployments: 10 } });
    expect(body["text"]).toContainEqual(expect.stringContaining("may have 10 deployments"));
    expect((await served.call("PUT", "/v1/workspaces/shop/class", { body: { class: null, reason } })).body).toMatchObject({
      assigned: null,
    });
    expect(await journal(workspaceId)).toMatchObject([
      { verdict: "UNASSIGNED", rule: "COMMAND", details: { actor: "otto", reason, class: null } },
      { verdict: "ASSIGNED", rule: "COMMAND", details: { actor: "otto", reason, class: "eu/gold/public" } },
    ]);
  });

  it("assign no class of another trust for an operator alone, and none that no pool has", async () => {
    await served.store.fleet.applyFleet(aFleet({ pools: [aPool("standard"), aPool("inside", INSIDE)] }), "ada", signal);
    const put = (className: string, role: "operator" | "approver") =>
      served.call("PUT", "/v1/workspaces/shop/class", { role, body: { class: className, reason } });
    expect(await put("eu/shared/internal", "operator")).toMatchObject({
      status: 403,
      body: { code: "api.role", detail: expect.stringContaining("would live with those of trust internal") },
    });
    expect(await put("eu/shared/publik", "approver")).toMatchObject({
      ...{ status: 422, body: { code: "api.class", detail: expect.stringContaining("Did you mean eu/shared/public?") } },
    });
    expect(await journal(workspaceId)).toEqual([]);
    expect(await put("eu/shared/internal", "approver")).toMatchObject({ status: 200, body: { assigned: { class: "eu/shared/internal" } } });
  });

  it("are shown with the workspace's explanation", async () => {
    await served.call("PUT", "/v1/workspaces/shop/hold", { body: { seconds: 3600, reason } });
    const { body } = await served.call("GET", "/v1/explain/shop");
    expect(body).toMatchObject({ directive: { pin: null, hold: { actor: "otto", reason } }, decisions: [{ verdict: "HELD" }] });
  });

  it.each([
    [{ instance: "standard-1", pool: "standard", reason }, "api.pin", "names an instance and a pool"],
    [{ instance: "other-1", reason }, "api.pin", "is of class us/shared/public, the workspace of class eu/shared/public"],
    [{ instance: "gone-1", reason }, "api.pin", "instance gone-1 is DRAINING"],
    [{ pool: "nothing", reason }, "api.pin", "pool nothing has no instance that serves"],
    [{ instance: "nobody", reason }, "api.no-instance", "there is no instance nobody; `argosy get instances` lists them"],
    [{ pool: "standard", reason: " " }, "api.invalid-request", "reason"],
  ])("refuse the pin %j with %s", async (body, code, text) => {
    await add({ name: "other-1", pool: "other", class: "us/shared/public" });
    await add({ name: "gone-1", pool: "gone", state: "DRAINING" });
    const answer = await served.call("PUT", "/v1/workspaces/shop/pin", { body });
    expect(answer.body).toMatchObject({ code, detail: expect.stringContaining(text) });
    expect(await journal(workspaceId)).toEqual([]);
  });

  it("refuse a pin to where somebody lives from whom the workspace must be apart, and to a pool of which that is so everywhere", async () => {
    const label = "class.argosy.dev/customer";
    const place = async (namespace: string, value: string, instance: Instance | undefined): Promise<void> => {
      const intent = anIntent({ namespace });
      const workspace = { ...intent.workspace, groups: { apart: { [label]: value } } };
      await served.store.intents.recordDeployments([{ ...intent, workspace }], signal);
      const unitId = intent.newIds.unitId;
      if (instance === undefined) return;
      const decision = aDecision({ subject: unitId });
      await served.store.placements.commitFirstPlacement(
        { unitId, rowVersion: 1, instanceId: instance.id, ceiling: WIDE, decision },
        signal,
      );
    };
    const pin = (body: Readonly<Record<string, string>>) => served.call("PUT", "/v1/workspaces/own/pin", { body: { ...body, reason } });
    const refused = (detail: string) => ({ status: 422, body: { code: "api.pin", detail: expect.stringContaining(detail) } });
    await place("own", "a", undefined);
    await place("alike", "a", await instanceNamed("standard-1"));
    expect((await pin({ instance: "standard-1" })).status).toBe(200);
    const second = await add({ name: "standard-2" });
    await place("other", "b", second);
    expect(await pin({ instance: "standard-2" })).toMatchObject(refused(`instance standard-2 holds a workspace, or will, from which`));
    expect(await pin({ instance: "standard-2" })).toMatchObject(refused(`must be apart: of ${label}=b`));
    expect((await pin({ pool: "standard" })).status).toBe(200);
    await place("third", "c", await add({ name: "full-1", pool: "full" }));
    expect(await pin({ pool: "full" })).toMatchObject(refused(`every instance of pool full holds a workspace, or will`));
    await add({ name: "full-2", pool: "full" });
    expect((await pin({ pool: "full" })).status).toBe(200);
  });

  it("name the workspace that is not there", async () => {
    const answer = await served.call("PUT", "/v1/workspaces/nobody/hold", { body: { seconds: 60, reason } });
    expect(answer).toMatchObject({ status: 404, body: { code: "api.no-workspace" } });
  });

  it("hold a workspace for a while and let it go", async () => {
    const before = Date.now();
    const { body } = await served.call("PUT", "/v1/workspaces/shop/hold", { body: { seconds: 3600, reason } });
    const { until } = body["hold"] as { readonly until: string };
    expect(Math.abs(Date.parse(until) - before - 3_600_000)).toBeLessThan(60_000);
    expect((await served.call("PUT", "/v1/workspaces/shop/hold", { body: { seconds: null, reason } })).body["hold"]).toBeNull();
    expect(await journal(workspaceId)).toMatchObject([{ verdict: "RELEASED" }, { verdict: "HELD" }]);
  });

  it("cordon an instance once, and uncordon it", async () => {
    const cordon = (cordoned: boolean) => served.call("PUT", "/v1/instances/standard-1/cordon", { body: { cordoned, reason } });
    expect((await cordon(true)).body).toEqual({ instance: "standard-1", state: "CORDONED", changed: true });
    expect((await cordon(true)).body).toEqual({ instance: "standard-1", state: "CORDONED", changed: false });
    const instance = await instanceNamed("standard-1");
    expect(instance).toMatchObject({ state: "CORDONED", reason: `cordoned by otto: ${reason}` });
    expect((await cordon(false)).body).toEqual({ instance: "standard-1", state: "ACTIVE", changed: true });
    expect((await cordon(false)).body).toMatchObject({ changed: false });
    expect((await journal(instance?.id ?? "")).map(({ verdict, rule }) => [verdict, rule])).toEqual([
      ["ACTIVE", "COMMAND"],
      ["CORDONED", "COMMAND"],
      ["CHOSEN", "PREFERRED"],
    ]);
  });

  it("leave the cordon of a pool to the pool, but may take it over", async () => {
    await add({ name: "standard-2", state: "CORDONED", reason: "its pool asks for fewer instances" });
    const refused = await served.call("PUT", "/v1/instances/standard-2/cordon", { body: { cordoned: false, reason } });
    expect(refused).toMatchObject({ status: 422, body: { code: "api.cordon", detail: expect.stringContaining("Ask for more instances") } });
    const taken = await served.call("PUT", "/v1/instances/standard-2/cordon", { body: { cordoned: true, reason } });
    expect(taken.body).toMatchObject({ changed: true });
    expect(await instanceNamed("standard-2")).toMatchObject({ reason: `cordoned by otto: ${reason}` });
  });

  it("refuse to cordon what does not serve", async () => {
    await add({ name: "new-1", state: "WARMING" });
    const refused = await served.call("PUT", "/v1/instances/new-1/cordon", { body: { cordoned: true, reason } });
    expect(refused.body).toMatchObject({ code: "api.cordon", detail: expect.stringContaining("is WARMING") });
  });

  it("make, show and take back freezes", async () => {
    const weekly = { seconds: 223_200, schedule: "0 18 * * 5", reason };
    expect((await served.call("PUT", "/v1/freezes/weekend", { body: weekly })).body).toMatchObject({ name: "weekend", ...weekly });
    expect((await served.call("PUT", "/v1/freezes/launch", { body: { seconds: 3600, reason } })).body).toMatchObject({ schedule: null });
    const list = await served.call("GET", "/v1/freezes", { role: "viewer" });
    expect(list.body["items"]).toMatchObject([{ name: "launch" }, { name: "weekend", actor: "otto" }]);
    expect((await served.call("DELETE", "/v1/freezes/launch")).body).toEqual({ name: "launch" });
    expect(await served.call("DELETE", "/v1/freezes/launch")).toMatchObject({ status: 404, body: { code: "api.no-freeze" } });
    expect(await journal("freeze/launch")).toMatchObject([{ verdict: "THAWED", details: { actor: "otto" } }, { verdict: "FROZEN" }]);
  });

  it.each([
    [{ seconds: 3600, schedule: "on Fridays", reason }, "api.schedule", "five fields"],
    [{ seconds: 0, reason }, "api.invalid-request", "seconds"],
    [{ seconds: 1e9, reason }, "api.invalid-request", "seconds"],
  ])("refuse the freeze %j", async (body, code, text) => {
    const answer = await served.call("PUT", "/v1/freezes/f", { body });
    expect(answer.body).toMatchObject({ code, detail: expect.stringContaining(text) });
  });
});
