import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { classOf } from "../domain/fleet.ts";
import type { InstanceId } from "../domain/ids.ts";
import { type Entries, INSTANCE_STATES, type Instance, type InstanceCause, type InstanceState } from "../domain/instance.ts";
import { birthOf } from "./change.ts";
import { nextState } from "./life-cycle.ts";
import { LEAVING, planPool, planPoolRemoval, type Sent, weightOf } from "./pool-plan.ts";
import { aFleet, anInstance, aPool, CAPACITY } from "./testing/instances.ts";

const idOf = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}` as InstanceId;

function standard(number: number, state: InstanceState = "ACTIVE", changes: Partial<Instance> = {}): Instance {
  return anInstance({ id: idOf(number), name: `standard-${number}`, namespace: `argosy-standard-${number}`, state, ...changes });
}

const POOL: InstanceCause = { code: "POOL" };

const sent = (list: readonly Sent[]) => list.map(({ instance }) => instance.name);

function plan(
  instances: readonly Instance[],
  options: {
    readonly min?: number;
    readonly max?: number;
    readonly units?: Readonly<Record<number, number>>;
    readonly clusters?: readonly string[];
    readonly entries?: Entries;
  } = {},
) {
  const { min = 2, max = 4, units = {}, clusters = ["eu-1"], entries } = options;
  const own = entries === "per-workspace" ? { entries } : {};
  const pool = aPool({ instances: { min, max }, engineClusters: clusters, ...own });
  const held = new Map(Object.entries(units).map(([number, count]) => [idOf(Number(number)), count]));
  const result = planPool({ pool, fleet: aFleet({ pools: [pool] }), instances, units: held });
  const names = (list: readonly { readonly name: string }[]) => list.map((one) => one.name);
  const { request, drain, cordon, uncordon } = result;
  return { ...result, names: { request: names(request), drain: sent(drain), cordon: sent(cordon), uncordon: sent(uncordon) } };
}

describe("a pool", () => {
  it("requests its minimum of instances, named after the pool", () => {
    const { request } = plan([]);
    expect(request).toEqual(
      [1, 2].map((number) =>
        expect.objectContaining({
          name: `standard-${number}`,
          namespace: `argosy-standard-${number}`,
          class: "eu/shared/public",
          desiredVersion: "3.5.7",
          state: "REQUESTED",
        }),
      ),
    );
    expect(birthOf({ ...anInstance(), ...request[0] }).rule).toBe("MIN");
    expect(request[0]?.reason).toBe("pool standard asks for 2 instances");
    expect(plan([], { min: 1 }).request[0]?.reason).toBe("pool standard asks for 1 instance");
  });

  it("spreads them over its engine clusters", () => {
    const { request } = plan([standard(1, "ACTIVE", { engineCluster: "eu-2" })], { min: 4, clusters: ["eu-1", "eu-2"] });
    expect(request.map((one) => `${one.name} ${one.engineCluster}`)).toEqual(["standard-2 eu-1", "standard-3 eu-1", "standard-4 eu-2"]);
  });

  it("requests none where it has no engine cluster", () => {
    expect(plan([], { clusters: [] }).names.request).toEqual([]);
  });

  it("plans nothing between its bounds", () => {
    const held = { units: { 1: 1, 2: 1, 3: 1 } };
    expect(plan([standard(1), standard(2), standard(3)], held)).toMatchObject({
      request: [],
      drain: [],
      cordon: [],
      uncordon: [],
      resize: [],
    });
  });

  it("replaces instances that enter the API cluster in another way than it declares: empty ones go, the others when they are empty", () => {
    const pool = [standard(1), standard(2), standard(3, "ACTIVE", { entries: "per-workspace" })];
    const planned = plan(pool, { units: { 1: 7, 3: 1 }, entries: "per-workspace" });
    expect(planned.names).toEqual({ request: ["standard-4"], drain: ["standard-2"], cordon: ["standard-1"], uncordon: [] });
    expect(planned.request).toMatchObject([{ entries: "per-workspace" }]);
    expect(planned.cordon[0]?.reason).toBe(
      "its pool asks for instances with a cluster entry for each workspace: it takes no new units and is retired when it holds none",
    );
    const back = plan(pool, { units: { 1: 7, 3: 1 } });
    expect(back.names).toEqual({ request: [], drain: [], cordon: ["standard-3"], uncordon: [] });
    expect(back.cordon[0]?.reason).toContain("whose workspaces share a cluster entry");
  });

  it("never uses a name twice", () => {
    expect(plan([standard(1, "RETIRED"), standard(3)]).names.request).toEqual(["standard-2"]);
  });

  it("replaces a draining instance, but not a failed one", () => {
    expect(plan([standard(1, "DRAINING"), standard(2)]).names.request).toEqual(["standard-3"]);
    expect(plan([standard(1, "FAILED"), standard(2)]).names.request).toEqual([]);
  });

  it("drains empty instances beyond its minimum, the least useful first", () => {
    const instances = [standard(1), standard(2, "FAILED"), standard(3), standard(4, "WARMING"), standard(5), standard(6, "CORDONED")];
    const sizes = [6, 5, 4, 3, 2, 1, 0].map((min) =>
      plan(instances, { min, max: 9 })
        .names.drain.map((name) => name.slice(-1))
        .join(""),
    );
    expect(sizes).toEqual(["", "2", "24", "246", "2465", "24653", "246531"]);
    expect(plan(instances, { min: 2, max: 9, units: { 5: 1 } }).names.drain).toEqual([
      "standard-2",
      "standard-4",
      "standard-6",
      "standard-3",
    ]);
    expect(plan(instances, { max: 2 }).drain[0]?.reason).toBe("its pool asks for fewer instances");
  });

  it("cordons instances beyond its maximum that hold units, those with the fewest first", () => {
    const instances = [standard(1), standard(2), standard(3), standard(4)];
    const units = { 1: 5, 2: 3, 3: 5, 4: 9 };
    expect(plan(instances, { min: 1, max: 4, units }).names).toMatchObject({ drain: [], cordon: [] });
    expect(plan(instances, { min: 1, max: 3, units }).names).toMatchObject({ drain: [], cordon: ["standard-2"] });
    expect(plan(instances, { min: 1, max: 2, units }).names.cordon).toEqual(["standard-2", "standard-3"]);
    expect(plan(instances, { min: 1, max: 2, units }).cordon[0]?.reason).toBe(
      "its pool asks for fewer instances: it takes no new units and is retired when it holds none",
    );
  });

  it("keeps to the instance it has cordoned, and drains it once it is empty", () => {
    const waiting = standard(2, "CORDONED", { reason: LEAVING.surplus.waiting, cause: POOL });
    const instances = [standard(1), waiting, standard(3)];
    expect(plan(instances, { max: 2, units: { 1: 1, 2: 9, 3: 1 } }).names).toMatchObject({ drain: [], cordon: [], uncordon: [] });
    expect(plan(instances, { max: 2, units: { 1: 1, 3: 1 } }).names).toMatchObject({ drain: ["standard-2"], cordon: [], uncordon: [] });
  });

  it("uncordons an instance that it needs again, but none that somebody else has cordoned", () => {
    const instances = [
      standard(1, "CORDONED", { reason: LEAVING.surplus.waiting, cause: POOL }),
      standard(2, "CORDONED", { reason: LEAVING.surplus.waiting, cause: { code: "PERSON" } }),
      standard(3, "CORDONED", { reason: LEAVING.removed.waiting, cause: POOL }),
    ];
    expect(plan(instances, { min: 3, units: { 1: 1, 2: 1, 3: 1 } }).names.uncordon).toEqual(["standard-1", "standard-3"]);
  });

  it("drains or cordons all of its instances when it was removed on purpose", () => {
    const instances = [standard(1), standard(2), standard(3, "FAILED"), standard(4, "RETIRED"), standard(5, "DRAINING")];
    const { drain, cordon, ...rest } = planPoolRemoval({ name: "standard", instances, units: new Map([[idOf(1), 2]]) });
    expect([sent(drain), sent(cordon)]).toEqual([["standard-3", "standard-2"], ["standard-1"]]);
    expect(drain[0]?.reason).toBe("its pool was removed from fleet.yaml");
    expect(rest).toEqual({ request: [], isWaiting: true, uncordon: [], resize: [] });
  });

  it("says whether an instance that is to leave still holds units", () => {
    const instances = [standard(1), standard(2)];
    const waits = (units: number): boolean =>
      planPoolRemoval({ name: "standard", instances, units: new Map([[idOf(1), units]]) }).isWaiting;
    expect([waits(1), waits(0)]).toEqual([true, false]);
    expect(plan(instances, { min: 1, max: 1, units: { 1: 1, 2: 2 } }).isWaiting).toBe(true);
    expect(plan(instances, { min: 1, max: 2, units: { 1: 1, 2: 2 } }).isWaiting).toBe(false);
  });

  it("requests instances of its new class and gives up the old ones when its class changes", () => {
    const old = [standard(1, "ACTIVE", { class: "eu/shared/internal" }), standard(2, "ACTIVE", { class: "eu/shared/internal" })];
    expect(plan(old, { units: { 1: 3 } }).names).toMatchObject({
      request: ["standard-3", "standard-4"],
      drain: ["standard-2"],
      cordon: ["standard-1"],
    });
  });

  it("gives its instances a new capacity", () => {
    const small = standard(1, "ACTIVE", { capacity: { ...CAPACITY, milliCpu: 1 } });
    expect(plan([small, standard(2)]).resize).toEqual([{ instance: small, capacity: CAPACITY, weight: 1 }]);
  });

  it("gives one whose controller was given more CPU as much more of that capacity", () => {
    const resources = { ...aPool().resources, max: { controller: { cpu: "4" } } };
    const pool = aPool({ resources });
    const raised = { amounts: { "controller.cpu": "3" }, at: millis(0) };
    const resized = (instances: readonly Instance[]) =>
      planPool({ pool, fleet: aFleet({ pools: [pool] }), instances, units: new Map() }).resize.map(({ capacity }) => capacity);
    const capacity = { ...CAPACITY, milliCpu: 3_000 };
    expect(resized([standard(1, "ACTIVE", { raised }), standard(2)])).toEqual([capacity]);
    expect(resized([standard(1, "ACTIVE", { raised, capacity })])).toEqual([]);
  });

  it("has a weight relative to the smallest pool of its class", () => {
    const big = aPool({
      name: "big",
      capacity: {
        ...CAPACITY,
        applications: 3_500_000,
        clusterEntries: 240,
        cachedResources: 1_000_000,
        milliCpu: 8000,
        gitPerMinute: 2_400_000,
      },
    });
    const alien = aPool({ name: "alien", class: { ...big.class, trust: "internal" }, capacity: { ...CAPACITY, applications: 1 } });
    const fleet = aFleet({ pools: [aPool(), big, alien] });
    expect([weightOf(aPool(), fleet), weightOf(big, fleet), weightOf(alien, fleet)]).toEqual([1, 3, 1]);
  });
});

const anyInstances = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 12 }).chain((numbers) =>
  fc.tuple(
    ...numbers.map((number) =>
      fc.record({
        number: fc.constant(number),
        state: fc.constantFrom(...INSTANCE_STATES),
        cause: fc.constantFrom(POOL, undefined),
        units: fc.integer({ min: 0, max: 2 }),
      }),
    ),
  ),
);

describe("any plan of any pool", () => {
  it("drains no instance that holds a unit, keeps to its bounds, and uses only events that the life cycle has", () => {
    fc.assert(
      fc.property(anyInstances, fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }), (rows, min, more) => {
        const instances = rows.map(({ number, state, cause }) => standard(number, state, { cause }));
        const units = Object.fromEntries(rows.map((row) => [row.number, row.units]));
        const { request, drain, cordon, uncordon } = plan(instances, { min, max: min + more, units });
        const held = new Set(rows.filter((row) => row.units > 0).map((row) => idOf(row.number)));
        for (const { instance } of drain) {
          expect(held.has(instance.id)).toBe(false);
          expect(nextState(instance.state, "drain")).toBe("DRAINING");
        }
        for (const { instance } of cordon) {
          expect(held.has(instance.id)).toBe(true);
          expect(nextState(instance.state, "cordon")).toBe("CORDONED");
        }
        for (const { instance } of uncordon) expect(nextState(instance.state, "uncordon")).toBe("ACTIVE");
        const touched = [...drain, ...cordon, ...uncordon].map(({ instance }) => instance.id);
        expect(new Set(touched).size).toBe(touched.length);
        const names = [...instances, ...request].map((one) => one.name);
        expect(new Set(names).size).toBe(names.length);
        const left = instances.filter((one) => one.state !== "RETIRED" && one.state !== "DRAINING").length - drain.length + request.length;
        expect(left).toBeGreaterThanOrEqual(min);
        for (const one of request) expect(one.class).toBe(classOf(aPool()));
      }),
    );
  });

  it("is the same whatever instances hold, where it would drain none if all were empty: then nobody counts", () => {
    const any = fc.integer({ min: 0, max: 6 });
    const classes = fc.constantFrom(undefined, "eu/shared/internal");
    fc.assert(
      fc.property(anyInstances, any, any, classes, (rows, min, more, last) => {
        const options = { min, max: min + more };
        const units = Object.fromEntries(rows.map((row) => [row.number, row.units]));
        const instances = rows.map(({ number, state, cause }, index) =>
          standard(number, state, { cause, ...(last !== undefined && index === 0 ? { class: last } : {}) }),
        );
        const ifEmpty = plan(instances, options);
        if (ifEmpty.drain.length === 0) expect(plan(instances, { ...options, units })).toEqual(ifEmpty);
      }),
    );
  });

  it("does not depend on the order of instances, and leaves nothing to plan once it is carried out", () => {
    fc.assert(
      fc.property(anyInstances, fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }), (rows, min, more) => {
        const options = { min, max: min + more, units: Object.fromEntries(rows.map((row) => [row.number, row.units])) };
        const instances = rows.map(({ number, state, cause }) => standard(number, state, { cause }));
        const first = plan(instances, options);
        const shuffled = plan(instances.toReversed(), options);
        expect([shuffled.names.drain, shuffled.names.cordon]).toEqual([first.names.drain, first.names.cordon]);
        const become = (list: readonly Sent[], state: InstanceState) =>
          list.map(({ instance, reason, cause }) => [instance.id, { ...instance, state, reason, cause }] as const);
        const changed = new Map([
          ...become(first.drain, "DRAINING"),
          ...become(first.cordon, "CORDONED"),
          ...become(first.uncordon, "ACTIVE"),
        ]);
        const added = first.request.map((one, index) => ({ ...anInstance(), ...one, id: idOf(100 + index) }));
        const second = plan([...instances.map((one) => changed.get(one.id) ?? one), ...added], options);
        expect(second.names).toEqual({ request: [], drain: [], cordon: [], uncordon: [] });
      }),
    );
  });
});
