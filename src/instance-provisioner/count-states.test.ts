import { expect, it } from "vitest";
import { countStates } from "./count-states.ts";
import { anInstance } from "./testing/instances.ts";

it("counts the instances of each pool by state, retired ones left out", () => {
  const counts = countStates([
    anInstance({ state: "ACTIVE" }),
    anInstance({ state: "ACTIVE" }),
    anInstance({ state: "RETIRED" }),
    anInstance({ pool: "big", state: "FAILED" }),
  ]);
  expect(counts.filter((one) => one.instances > 0)).toEqual([
    { pool: "big", state: "FAILED", instances: 1 },
    { pool: "standard", state: "ACTIVE", instances: 2 },
  ]);
  expect(counts).toHaveLength(14);
});
