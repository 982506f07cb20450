import { describe, expect, it } from "vitest";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { type FleetPlanFacts, planFleet } from "./fleet-plan.ts";
import { aFleet, anInstance, aPool, CAPACITY } from "./testing/instances.ts";

const instance = (name: string, changes: Partial<Instance> = {}): Instance =>
  anInstance({ id: name as InstanceId, name, pool: name.replace(/-.*/, ""), state: "ACTIVE", ...changes });

const lines = (facts: Partial<FleetPlanFacts>) =>
  planFleet({ spec: aFleet(), pruned: [], instances: [], units: new Map(), ...facts }).map(
    ({ instance: name, change, units }) => `${name} ${change} ${units}`,
  );

describe("the plan of a fleet", () => {
  it("names each instance that is created, retired, waits, is recalled or resized, pool by pool", () => {
    const spec = aFleet({
      pools: [
        aPool({ name: "b", instances: { min: 2, max: 2 } }),
        aPool({ name: "a", instances: { min: 1, max: 1 }, capacity: { ...CAPACITY, milliCpu: 2001 } }),
      ],
    });
    const instances = [instance("a-1"), instance("a-2"), instance("a-3"), instance("b-1", { state: "RETIRED" })];
    const units = new Map([
      ["a-1" as InstanceId, 1],
      ["a-2" as InstanceId, 4],
    ]);
    expect(lines({ spec, instances, units })).toEqual([
      ...["a-1 waits 1", "a-1 resized 1", "a-2 resized 4", "a-3 retired 0", "a-3 resized 0", "b-2 created 0", "b-3 created 0"],
    ]);
  });

  it("leaves instances of an undeclared pool alone unless the pool was removed on purpose", () => {
    const instances = [instance("old-1"), instance("old-2"), instance("old-3", { state: "DRAINING" })];
    const units = new Map([["old-2" as InstanceId, 3]]);
    const spec = aFleet({ pools: [] });
    expect(lines({ spec, instances, units })).toEqual(["old-1 left 0", "old-2 left 3"]);
    expect(lines({ spec, instances, units, pruned: ["old"] })).toEqual(["old-1 retired 0", "old-2 waits 3"]);
  });
});
