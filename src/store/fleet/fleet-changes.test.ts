import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { aFleet, aPool } from "../testing/builders.ts";
import { changedPools, declaredAnew, fleetDecision } from "./fleet-changes.ts";

describe("pools that changed", () => {
  it("are all of a first declaration", () => {
    expect(changedPools(undefined, aFleet({ pools: [aPool("b"), aPool("a")] }))).toEqual(["a", "b"]);
  });

  it("are those that were added, changed or removed, whatever order they stand in", () => {
    const before = aFleet({ pools: [aPool("same"), aPool("gone"), aPool("other")] });
    const after = aFleet({ pools: [aPool("new"), aPool("other", { instances: { min: 2, max: 9 } }), aPool("same")] });
    expect(changedPools(before, after)).toEqual(["gone", "new", "other"]);
    expect(changedPools(before, aFleet({ pools: before.pools.toReversed() }))).toEqual([]);
  });

  it("are written in the journal with who changed them", () => {
    expect(fleetDecision({ at: millis(1), actor: "ada", revision: 2, pools: ["a"] })).toEqual({
      at: 1,
      subject: "fleet",
      kind: "fleet",
      verdict: "DECLARED",
      rule: "COMMAND",
      details: { actor: "ada", revision: 2, pools: ["a"] },
    });
  });
});

it("a fleet that was declared in between is read again, by a code that stays", () => {
  expect(declaredAnew(7)).toMatchObject({ code: "store.fleet-stale", context: { revision: 7 } });
});
