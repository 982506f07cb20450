import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classOf } from "../domain/fleet.ts";
import type { InstanceId } from "../domain/ids.ts";
import { INSTANCE_STATES, type Instance, type InstanceState } from "../domain/instance.ts";
import { birthOf } from "./change.ts";
import { nextState } from "./life-cycle.ts";
import { planPool, SURPLUS, weightOf } from "./pool-plan.ts";
import { aFleet, anInstance, aPool, CAPACITY } from "./testing/instances.ts";

const idOf = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}` as InstanceId;

function standard(number: number, state: InstanceState = "ACTIVE", changes: Partial<Instance> = {}): Instance {
  return anInstance({ id: idOf(number), name: `standard-${number}`, namespace: `argosy-standard-${number}`, state, ...changes });
}

function plan(
  instances: readonly Instance[],
  options: {
    readonly min?: number;
    readonly max?: number;
    readonly units?: Readonly<Record<number, number>>;
    readonly clusters?: readonly string[];
  } = {},
) {
  const { min = 2, max = 4, units = {}, clusters = ["eu-1"] } = options;
  const pool = aPool({ instances: { min, max }, engineClusters: clusters });
  const held = new Map(Object.entries(units).map(([number, count]) => [idOf(Number(number)), count]));
  const result = planPool({ pool, fleet: aFleet({ pools: [pool] }), instances, units: held });
  const names = (list: readonly { readonly name: string }[]) => list.map((one) => one.name);
  return { ...result, names: { request: names(result.request), drain: names(result.drain), keep: names(result.keep) } };
}

describe("a pool", () => {
  it("asks for its least number of instances under names of its own", () => {
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
  });

  it("spreads them over its engine clusters", () => {
    const { request } = plan([standard(1, "ACTIVE", { engineCluster: "eu-2" })], { min: 4, clusters: ["eu-1", "eu-2"] });
    expect(request.map((one) => `${one.name} ${one.engineCluster}`)).toEqual(["standard-2 eu-1", "standard-3 eu-1", "standard-4 eu-2"]);
  });

  it("asks for none where it has no cluster", () => {
    expect(plan([], { clusters: [] }).names.request).toEqual([]);
  });

  it("is content between its bounds", () => {
    expect(plan([standard(1), standard(2), standard(3)])).toMatchObject({ request: [], drain: [], keep: [], resize: [] });
  });

  it("never gives a name twice", () => {
    expect(plan([standard(1, "RETIRED"), standard(3)]).names.request).toEqual(["standard-2"]);
  });

  it("replaces what is on its way out, and does not replace what failed", () => {
    expect(plan([standard(1, "DRAINING"), standard(2)]).names.request).toEqual(["standard-3"]);
    expect(plan([standard(1, "FAILED"), standard(2)]).names.request).toEqual([]);
  });

  it("sends the empty surplus away, the least useful first", () => {
    const instances = [standard(1), standard(2, "FAILED"), standard(3), standard(4, "WARMING"), standard(5)];
    expect(plan(instances, { max: 4 }).names.drain).toEqual(["standard-2"]);
    expect(plan(instances, { max: 3 }).names.drain).toEqual(["standard-2", "standard-4"]);
    expect(plan(instances, { max: 2 }).names.drain).toEqual(["standard-2", "standard-4", "standard-5"]);
    expect(plan(instances, { max: 2, units: { 5: 1 } }).names.drain).toEqual(["standard-2", "standard-4", "standard-3"]);
  });

  it("calls back surplus that was given a unit before it left, but nothing that somebody else sends away", () => {
    const leaving = [
      standard(1, "DRAINING", { reason: SURPLUS }),
      standard(2, "DRAINING", { reason: "for maintenance" }),
      standard(3, "DRAINING", { reason: SURPLUS }),
    ];
    expect(plan(leaving, { units: { 1: 1, 2: 1 }, min: 0 }).names.keep).toEqual(["standard-1"]);
  });

  it("fills its new class and empties the old one when its class changes", () => {
    const old = [standard(1, "ACTIVE", { class: "eu/shared/internal" }), standard(2, "ACTIVE", { class: "eu/shared/internal" })];
    expect(plan(old, { units: { 1: 3 } }).names).toMatchObject({ request: ["standard-3", "standard-4"], drain: ["standard-2"] });
  });

  it("tells its instances of a new capacity", () => {
    const small = standard(1, "ACTIVE", { capacity: { ...CAPACITY, milliCpu: 1 } });
    expect(plan([small, standard(2)]).resize).toEqual([{ instance: small, capacity: CAPACITY, weight: 1 }]);
  });

  it("weighs as much as it is larger than the smallest of its class", () => {
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
        reason: fc.constantFrom(SURPLUS, "other"),
        units: fc.integer({ min: 0, max: 2 }),
      }),
    ),
  ),
);

describe("any plan of any pool", () => {
  it("touches nothing that holds a unit, keeps to its bounds and does only what the life cycle knows", () => {
    fc.assert(
      fc.property(anyInstances, fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }), (rows, min, more) => {
        const instances = rows.map(({ number, state, reason }) => standard(number, state, { reason }));
        const units = Object.fromEntries(rows.map((row) => [row.number, row.units]));
        const { request, drain, keep } = plan(instances, { min, max: min + more, units });
        const held = new Set(rows.filter((row) => row.units > 0).map((row) => idOf(row.number)));
        for (const one of drain) {
          expect(held.has(one.id)).toBe(false);
          expect(nextState(one.state, "drain")).toBe("DRAINING");
        }
        for (const one of keep) expect(nextState(one.state, "keep")).toBe("ACTIVE");
        const names = [...instances, ...request].map((one) => one.name);
        expect(new Set(names).size).toBe(names.length);
        const left = instances.filter((one) => one.state !== "RETIRED" && one.state !== "DRAINING").length - drain.length + request.length;
        expect(left).toBeGreaterThanOrEqual(min);
        for (const one of request) expect(one.class).toBe(classOf(aPool()));
      }),
    );
  });

  it("carried out leaves nothing to plan", () => {
    fc.assert(
      fc.property(anyInstances, fc.integer({ min: 0, max: 6 }), (rows, min) => {
        const units = Object.fromEntries(rows.map((row) => [row.number, row.units]));
        const instances = rows.map(({ number, state, reason }) => standard(number, state, { reason }));
        const first = plan(instances, { min, max: min, units });
        const sent = new Set(first.drain.map((one) => one.id));
        const kept = new Set(first.keep.map((one) => one.id));
        const after = instances.map((one) =>
          sent.has(one.id)
            ? { ...one, state: "DRAINING" as const, reason: SURPLUS }
            : kept.has(one.id)
              ? { ...one, state: "ACTIVE" as const }
              : one,
        );
        const added = first.request.map((one, index) => ({ ...anInstance(), ...one, id: idOf(100 + index) }));
        const second = plan([...after, ...added], { min, max: min, units });
        expect(second.names.request).toEqual([]);
        expect(second.names.keep).toEqual([]);
      }),
    );
  });
});
