import { describe, expect, it } from "vitest";
import { INSTANCE_STATES } from "../../domain/instance.ts";
import { aRow } from "../testing/facts.ts";
import { NOON } from "../testing/snapshots.ts";
import { drainDecision, drainReason, mayHalt, whyNotDrain } from "./drain.ts";

describe("the order to empty an instance", () => {
  it("is for one that serves, or is being emptied", () => {
    const open = INSTANCE_STATES.filter((state) => whyNotDrain({ state }) === undefined);
    expect(open.toSorted()).toEqual(["ACTIVE", "CORDONED", "DRAINING"]);
    expect(whyNotDrain({ state: "FAILED" })).toBe("is FAILED: only one that serves can be emptied");
  });

  it("is known on the instance and in the journal by who gave it and why", () => {
    expect(drainReason("otto", "old node")).toBe("drained by otto: old node");
    expect(drainReason("otto", "burnt", true)).toBe("drained by otto, by fail-over: burnt");
    const { id, name, pool } = aRow("a");
    expect(drainDecision(aRow("a"), { at: NOON, actor: "otto", reason: "old node" })).toEqual({
      ...{ at: NOON, subject: id, kind: "instance", verdict: "DRAINING", rule: "COMMAND" },
      details: { name, pool, reason: "old node", actor: "otto" },
    });
  });
});

const draining = { state: "DRAINING", halt: "none" } as const;

it("stops an instance once its own right to write is all that holds its last units", () => {
  expect(mayHalt(draining, { units: 2, heldBySource: [true, true] })).toBe(true);
});

it.each([
  ["one of them is held by something else", draining, { units: 2, heldBySource: [true, false] }],
  ["one of them has no other instance to go to, or is being moved", draining, { units: 2, heldBySource: [true] }],
  ["nothing is left", draining, { units: 0, heldBySource: [] }],
  ["it was not ordered to be emptied", { ...draining, state: "CORDONED" }, { units: 1, heldBySource: [true] }],
  ["it serves", { ...draining, state: "ACTIVE" }, { units: 1, heldBySource: [true] }],
  ["it is being stopped already", { ...draining, halt: "wanted" }, { units: 1, heldBySource: [true] }],
  ["it was stopped", { ...draining, halt: "seen" }, { units: 1, heldBySource: [true] }],
] as const)("stops none while %s", (_why, instance, left) => {
  expect(mayHalt(instance, left)).toBe(false);
});
