import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { DefectError } from "../domain/errors.ts";
import { INSTANCE_STATES, type InstanceState } from "../domain/instance.ts";
import { instanceChangeOf, noteOf } from "./change.ts";
import { attemptOffsetMs, countStates, DEADLINES_MS, INSTANCE_EVENTS, LIFE_CYCLE, MAX_ATTEMPTS, nextState } from "./life-cycle.ts";
import { anInstance } from "./testing/instances.ts";

const now = millis(5_000);

describe("the life of an instance", () => {
  it("is this table", () => {
    const lines = INSTANCE_STATES.flatMap((state) =>
      INSTANCE_EVENTS.flatMap((event) => (nextState(state, event) === undefined ? [] : [`${state} ${event} ${nextState(state, event)}`])),
    );
    expect(lines).toEqual([
      "REQUESTED begin CREATING",
      "REQUESTED giveUp FAILED",
      "REQUESTED drain DRAINING",
      "CREATING applied WARMING",
      "CREATING attemptFailed CREATING",
      "CREATING giveUp FAILED",
      "CREATING retry REQUESTED",
      "CREATING drain DRAINING",
      "WARMING ready ACTIVE",
      "WARMING attemptFailed CREATING",
      "WARMING giveUp FAILED",
      "WARMING drain DRAINING",
      "ACTIVE cordon CORDONED",
      "ACTIVE drain DRAINING",
      "CORDONED uncordon ACTIVE",
      "CORDONED drain DRAINING",
      "DRAINING uncordon ACTIVE",
      "DRAINING retired RETIRED",
      "FAILED retry REQUESTED",
      "FAILED drain DRAINING",
    ]);
  });

  it("leads from every state to the end, and from the end nowhere", () => {
    const reach = (from: InstanceState): ReadonlySet<InstanceState> => {
      const seen = new Set([from]);
      for (const state of seen) for (const to of Object.values(LIFE_CYCLE[state])) if (to !== undefined) seen.add(to);
      return seen;
    };
    for (const state of INSTANCE_STATES) expect(reach(state).has("RETIRED"), state).toBe(true);
    expect([...reach("RETIRED")]).toEqual(["RETIRED"]);
  });

  it("has a deadline in each state that waits for something else", () => {
    expect(Object.entries(DEADLINES_MS).flatMap(([state, ms]) => (ms === undefined ? [] : [state]))).toEqual([
      "CREATING",
      "WARMING",
      "FAILED",
    ]);
  });

  it("has time for all attempts before the deadline", () => {
    const offsets = Array.from({ length: MAX_ATTEMPTS + 1 }, (_, attempt) => attemptOffsetMs(attempt));
    expect(offsets).toEqual([0, 5_000, 20_000, 80_000, 320_000, 1_280_000]);
    expect(offsets[MAX_ATTEMPTS - 1]).toBeLessThan(DEADLINES_MS.CREATING ?? 0);
  });
});

describe("a change of an instance's row", () => {
  it("names the revision it was decided on, and has a journal entry", () => {
    const instance = anInstance({ state: "CREATING", revision: 7, appliedHash: "old" });
    expect(instanceChangeOf(instance, { event: "applied", reason: "waiting for its pods", attempt: 2, now, wantedHash: "new" })).toEqual({
      id: instance.id,
      revision: 7,
      state: "WARMING",
      reason: "waiting for its pods",
      attempt: 2,
      appliedHash: "new",
      decision: {
        at: now,
        subject: instance.id,
        kind: "instance",
        verdict: "WARMING",
        rule: "applied",
        details: { name: "standard-1", pool: "standard", reason: "waiting for its pods", attempt: 2, version: "3.5.7" },
      },
    });
  });

  it("takes over the requested release when a creation begins", () => {
    const instance = anInstance({ version: "3.5.6", desiredVersion: "3.5.7" });
    expect(instanceChangeOf(instance, { event: "begin", reason: "", attempt: 0, now, wantedHash: "new" })).toMatchObject({
      version: "3.5.7",
    });
    expect(instanceChangeOf(instance, { event: "begin", reason: "", attempt: 0, now, wantedHash: "new" })).not.toHaveProperty(
      "appliedHash",
    );
  });

  it("is a defect when the event cannot happen in the state", () => {
    expect(() => instanceChangeOf(anInstance({ state: "RETIRED" }), { event: "ready", reason: "", attempt: 0, now })).toThrow(DefectError);
  });

  it("keeps the state, and is made only where something differs", () => {
    const instance = anInstance({ state: "ACTIVE", appliedHash: "a" });
    expect(noteOf(instance, { now, appliedHash: "a" })).toBeUndefined();
    expect(noteOf(instance, { now, appliedHash: "b" })).toMatchObject({
      state: "ACTIVE",
      appliedHash: "b",
      decision: { verdict: "REAPPLIED" },
    });
    expect(noteOf(instance, { now, version: "3.5.8" })).toMatchObject({ decision: { verdict: "UPGRADED" } });
    expect(noteOf(instance, { now, capacity: { ...instance.capacity, milliCpu: 1 }, weight: 1 })).toMatchObject({
      decision: { verdict: "RESIZED" },
    });
  });
});

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
