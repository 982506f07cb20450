import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { LOAD_DIMENSIONS, type LoadVector, ZERO_LOAD } from "../domain/load.ts";
import { placeUnit, type Seat } from "./place-unit.ts";
import { DEFAULT_POLICY, WHOLE } from "./policy.ts";

const apps = (count: number): LoadVector => ({ ...ZERO_LOAD, applications: count * 1000 });
const ROOMY: LoadVector = { applications: 1_000_000, clusterEntries: 60, cachedResources: 250_000, milliCpu: 2000, gitPerMinute: 600_000 };

function aSeat(name: string, seat: Partial<Seat> = {}): Seat {
  return { id: name as InstanceId, name, state: "ACTIVE", load: ZERO_LOAD, capacity: ROOMY, weight: 1, ...seat };
}
const aUnit = (id = "unit", load = apps(10)) => ({ id: id as UnitId, load });
const place = (seats: readonly Seat[], unit = aUnit()) => placeUnit({ unit, seats, policy: DEFAULT_POLICY });

/** The three instances in the order the ring proposes them for the unit. */
const order = (() => {
  const names = ["a", "b", "c"];
  const first = place(names.map((name) => aSeat(name)));
  if (first.kind !== "chosen") throw new Error("three empty instances have room");
  const rest = names.filter((name) => name !== first.instance);
  const second = place([aSeat(first.instance, { state: "CORDONED" }), ...rest.map((name) => aSeat(name))]);
  if (second.kind !== "chosen") throw new Error("two empty instances have room");
  return [first.instance, second.instance, rest.find((name) => name !== second.instance) as InstanceId] as const;
})();

describe("placing a unit", () => {
  it("takes the instance the ring prefers while it has room", () => {
    expect(place(order.map((name) => aSeat(name)))).toMatchObject({
      kind: "chosen",
      instance: order[0],
      rule: "PREFERRED",
      facts: { refusals: [] },
    });
  });

  it("passes over an instance that takes nothing new and says so", () => {
    const placement = place([aSeat(order[0], { state: "DRAINING" }), aSeat(order[1]), aSeat(order[2])]);
    expect(placement).toMatchObject({ kind: "chosen", instance: order[1], rule: "SPILL" });
    expect(placement.facts.refusals).toEqual([{ instance: order[0], rule: "STATE", state: "DRAINING" }]);
    expect(placement.facts.preferred).toBe(order[0]);
  });

  it("passes over an instance that would exceed the bound and gives the numbers", () => {
    const placement = place([aSeat(order[0], { load: apps(595) }), aSeat(order[1]), aSeat(order[2])]);
    expect(placement).toMatchObject({ kind: "chosen", instance: order[1], rule: "SPILL" });
    expect(placement.facts.refusals).toEqual([
      { instance: order[0], rule: "BOUND", dimension: "applications", would: 605_000, limit: 600_000 },
    ]);
  });

  it("loosens the bound with the mean and fills nothing beyond 90 %", () => {
    const full = order.map((name) => aSeat(name, { load: apps(850) }));
    expect(place(full, aUnit("unit", apps(40)))).toMatchObject({ kind: "chosen", facts: { bound: 892_500 } });
    expect(place(full, aUnit("unit", apps(50)))).toMatchObject({ kind: "chosen", facts: { bound: 900_000 } });
    expect(place(full, aUnit("unit", apps(51)))).toMatchObject({
      kind: "unplaceable",
      facts: { bound: 900_000, refusals: expect.arrayContaining([expect.objectContaining({ rule: "BOUND" })]) },
    });
  });

  it("takes the least loaded instance when none of the ring's eight candidates has room", () => {
    const seats = Array.from({ length: 40 }, (_, index) => aSeat(`s${index}`, { load: apps(index === 17 ? 10 : index === 23 ? 20 : 600) }));
    const free = ["s17", "s23"];
    const units = Array.from({ length: 60 }, (_, index) => aUnit(`unit-${index}`));
    const placements = units
      .map((unit) => place(seats, unit))
      .filter((placement) => placement.kind === "chosen" && placement.rule === "LEAST_LOADED");
    expect(placements.length).toBeGreaterThan(0);
    for (const placement of placements) {
      expect(placement.kind === "chosen" && placement.instance).toBe("s17");
      expect(free).not.toContain(placement.facts.preferred);
    }
  });

  it("reports a class without instances, one without ACTIVE ones and one without capacity as full", () => {
    expect(place([])).toMatchObject({ kind: "unplaceable", facts: { preferred: undefined } });
    expect(place([aSeat("a", { state: "CREATING" })])).toMatchObject({ kind: "unplaceable" });
    const nothing = place([aSeat("a", { capacity: ZERO_LOAD })]);
    expect(nothing.facts.refusals).toEqual([
      { instance: "a", rule: "BOUND", dimension: "applications", would: Number.MAX_SAFE_INTEGER, limit: 900_000 },
    ]);
  });

  it("places a unit without load even where there is no capacity for any", () => {
    expect(place([aSeat("a", { capacity: ZERO_LOAD })], aUnit("unit", ZERO_LOAD))).toMatchObject({ kind: "chosen" });
  });

  const vector = fc.record(
    Object.fromEntries(LOAD_DIMENSIONS.map((name) => [name, fc.nat({ max: 1_000_000 })])) as Record<keyof LoadVector, fc.Arbitrary<number>>,
  );
  const seat = fc.record({
    state: fc.constantFrom<Seat["state"][]>("ACTIVE", "ACTIVE", "ACTIVE", "CORDONED", "DRAINING", "WARMING"),
    load: vector,
    capacity: vector,
    weight: fc.integer({ min: 1, max: 4 }),
  });
  const fleet = fc.array(seat, { maxLength: 12 }).map((seats) => seats.map((each, index) => aSeat(`s${index}`, each)));

  it("never exceeds the ceiling it states, nor 90 % of a capacity, and never takes an instance that is not ACTIVE", () => {
    fc.assert(
      fc.property(fleet, vector, (seats, load) => {
        const placement = place(seats, aUnit("unit", load));
        if (placement.kind !== "chosen") return;
        const chosen = seats.find(({ id }) => id === placement.instance);
        expect(chosen?.state).toBe("ACTIVE");
        for (const dimension of LOAD_DIMENSIONS) {
          const after = (chosen?.load[dimension] ?? 0) + load[dimension];
          expect(after).toBeLessThanOrEqual(placement.ceiling[dimension]);
          expect(placement.ceiling[dimension] * WHOLE).toBeLessThanOrEqual((chosen?.capacity[dimension] ?? 0) * DEFAULT_POLICY.hardLimit);
        }
      }),
    );
  });

  it("answers the same in whatever order the instances come", () => {
    fc.assert(
      fc.property(fleet, vector, (seats, load) => {
        expect(place([...seats].reverse(), aUnit("unit", load))).toEqual(place(seats, aUnit("unit", load)));
      }),
    );
  });

  it("calls a unit unplaceable only when no ACTIVE instance has room under 90 %", () => {
    fc.assert(
      fc.property(fleet, vector, (seats, load) => {
        if (place(seats, aUnit("unit", load)).kind === "chosen") return;
        for (const { state, load: held, capacity } of seats.filter((each) => each.state === "ACTIVE")) {
          const isOver = LOAD_DIMENSIONS.some(
            (name) => held[name] + load[name] > Math.floor((capacity[name] * DEFAULT_POLICY.hardLimit) / WHOLE),
          );
          expect(state === "ACTIVE" && isOver).toBe(true);
        }
      }),
    );
  });
});
