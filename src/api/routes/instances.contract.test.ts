import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Instance } from "../../domain/instance.ts";
import { planFleet } from "../../instance-provisioner/fleet-plan.ts";
import { aDecision, aFleet, anInstance, aPool } from "../../store/testing/builders.ts";
import { createWorld } from "../../store/testing/world.ts";
import { idleDeps, type Served, serveApi } from "../testing/served.ts";

const signal = AbortSignal.timeout(60_000);

describe("instances by their name", () => {
  let served: Served;
  beforeEach(async () => {
    served = await serveApi((store) => ({ ...idleDeps(store), planFleet }));
    await declare(2, 3);
    for (const name of ["standard-1", "standard-2"]) await add({ name });
  });
  afterEach(() => served.close());

  const declare = (min: number, max: number) =>
    served.store.fleet.applyFleet(aFleet({ pools: [{ ...aPool("standard"), instances: { min, max } }] }), "ada", signal);
  const add = async (over: Partial<Instance>): Promise<Instance> => {
    const instance = anInstance({ class: "eu/shared/public", ...over });
    await served.store.fleet.insertInstance(instance, aDecision({ subject: instance.id, kind: "instance" }), signal);
    return instance;
  };
  const asked = async () => (await served.store.fleet.readFleet(signal))?.spec.pools[0]?.instances.min;
  const named = async (name: string) => (await served.store.fleet.listInstances(signal)).find((one) => one.name === name);
  const create = (name: string, body: object = {}) => served.call("POST", "/v1/instances", { body: { name, ...body } });
  const retire = (name: string, body: object = {}) => served.call("POST", `/v1/instances/${name}/retire`, { body });

  it("is for operators", async () => {
    for (const path of ["/v1/instances", "/v1/instances/standard-1/retire"])
      expect(await served.call("POST", path, { role: "viewer", body: { name: "standard-3" } })).toMatchObject({ status: 403 });
  });

  it("asks a pool for one more, once, and only says so in a dry run", async () => {
    const answer = { instance: "standard-3", pool: "standard", change: "created", min: { before: 2, after: 3 } };
    expect(await create("standard-3", { dryRun: true })).toMatchObject({ status: 200, body: { ...answer, dryRun: true } });
    expect(await asked()).toBe(2);
    expect((await create("standard-3")).body).toMatchObject({ ...answer, dryRun: false });
    expect(await asked()).toBe(3);
    expect((await create("standard-3")).body).toMatchObject({ change: "none", min: null });
    await add({ name: "standard-3", state: "CREATING" });
    expect((await create("standard-3")).body).toMatchObject({ change: "none", text: "instance standard-3 is CREATING" });
    expect(await asked()).toBe(3);
  });

  it.each<[string, string, (set: { declare: typeof declare; add: typeof add }) => Promise<unknown>]>([
    ["other-1", "no pool has instances named other-1: name one as <pool>-<number>; pools are standard", async () => undefined],
    ["standard-x", "no pool has instances named standard-x", async () => undefined],
    ["standard-4", "the next instance of pool standard is standard-3", async () => undefined],
    ["standard-3", "pool standard may have 2 instances: raise its instances.max in fleet.yaml first", (set) => set.declare(2, 2)],
    ["standard-3", "the next instance of pool standard is standard-4", (set) => set.add({ name: "standard-3", state: "RETIRED" })],
  ])("makes no %s where: %s", async (name, text, prepare) => {
    await prepare({ declare, add });
    const before = await asked();
    expect(await create(name)).toMatchObject({ status: 422, body: { code: "api.instance", detail: expect.stringContaining(text) } });
    expect(await asked()).toBe(before);
  });

  it("lets an empty one go, once, asks for no other, and says who did it", async () => {
    const answer = { instance: "standard-1", pool: "standard", change: "retired", min: { before: 2, after: 1 } };
    expect((await retire("standard-1", { dryRun: true })).body).toMatchObject({ ...answer, dryRun: true });
    expect((await named("standard-1"))?.state).toBe("ACTIVE");
    expect((await retire("standard-1", { reason: "too many" })).body).toMatchObject(answer);
    const gone = await named("standard-1");
    expect(gone).toMatchObject({ state: "DRAINING", reason: "deleted by otto: too many" });
    expect(await asked()).toBe(1);
    expect((await served.store.decisions.list({ subject: gone?.id ?? "" }, 1, signal))[0]).toMatchObject({
      verdict: "DRAINING",
      rule: "COMMAND",
    });
    expect((await retire("standard-1")).body).toMatchObject({ change: "none", text: "instance standard-1 is on its way out already" });
    expect(await asked()).toBe(1);
  });

  it("lets one go that its pool does not ask for, and leaves the pool as it is", async () => {
    await add({ name: "standard-3" });
    expect((await retire("standard-3")).body).toMatchObject({ change: "retired", min: null });
    expect(await asked()).toBe(2);
  });

  it("keeps one that serves somebody", async () => {
    const { record, unit, place } = createWorld(served.store);
    const { applicationId } = await record({ namespace: "shop" });
    await place((await unit(applicationId)).id, (await named("standard-1"))?.id ?? ("" as Instance["id"]));
    expect(await retire("standard-1")).toMatchObject({
      status: 422,
      body: { code: "api.instance", detail: "instance standard-1 serves 1 unit: `argosy drain standard-1` hands them over and lets it go" },
    });
    expect((await named("standard-1"))?.state).toBe("ACTIVE");
    expect(await asked()).toBe(2);
  });

  it("names one that is not there, and says where no fleet is declared", async () => {
    expect(await retire("nobody")).toMatchObject({ status: 404, body: { code: "api.no-instance" } });
    const bare = await serveApi();
    const answer = await bare.call("POST", "/v1/instances", { body: { name: "standard-1" } });
    expect(answer).toMatchObject({ status: 422, body: { detail: expect.stringContaining("no fleet is declared") } });
    await bare.close();
  });
});
