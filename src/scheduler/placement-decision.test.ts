import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { contentHash } from "../domain/hash.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { asLoadVector, ZERO_LOAD } from "../domain/load.ts";
import type { Candidate } from "./candidate.ts";
import { placeUnit } from "./place-unit.ts";
import { placementDecision, whyUnplaceable } from "./placement-decision.ts";
import { DEFAULT_POLICY } from "./policy.ts";

const AT = millis(1_700_000_000_000);
const CAPACITY = asLoadVector({ applications: 100_000, clusterEntries: 10, cachedResources: 1000, milliCpu: 1000, gitPerMinute: 1000 });
const UNIT = { id: "u-1" as UnitId, load: { ...ZERO_LOAD, applications: 1000 } };

const candidatesAt = (applications: number): readonly Candidate[] =>
  ["b", "d", "a", "c"].map((name) => ({
    id: name as InstanceId,
    name: `instance ${name}`,
    state: "ACTIVE",
    weight: 1,
    capacity: CAPACITY,
    load: { ...ZERO_LOAD, applications },
  }));

function decided(applications: number) {
  const question = { unit: UNIT, candidates: candidatesAt(applications), policy: DEFAULT_POLICY };
  const placement = placeUnit(question);
  return { question, placement, decision: placementDecision(question, placement, AT) };
}

describe("the journal's entry for a placement", () => {
  it("says what was chosen by which rule, for which unit and when", () => {
    const { placement, decision } = decided(0);
    expect(placement).toMatchObject({ kind: "chosen", rule: "PREFERRED" });
    expect(decision).toMatchObject({
      at: AT,
      subject: "u-1",
      kind: "placement",
      verdict: "CHOSEN",
      rule: "PREFERRED",
      details: { chosen: placement.facts.preferred },
    });
  });

  it("says that nothing fitted, and chose nothing", () => {
    const { decision } = decided(90_000);
    expect(decision).toMatchObject({
      subject: "u-1",
      kind: "placement",
      verdict: "UNPLACEABLE",
      rule: "NOTHING_FITS",
      details: { chosen: null },
    });
  });

  it("has the same short reason while nothing but loads change", () => {
    const words = (...applications: readonly number[]) => {
      const candidates = candidatesAt(0).map((candidate, index) => ({
        ...candidate,
        load: { ...ZERO_LOAD, applications: applications[index] ?? 0 },
      }));
      return whyUnplaceable(placeUnit({ unit: UNIT, candidates: candidates.slice(0, applications.length), policy: DEFAULT_POLICY }).facts);
    };
    expect(words(95_000, 96_000)).toBe("BOUND applications");
    expect(words(97_000, 90_000, 95_000)).toBe("BOUND applications");
    expect(words()).toBe("NO_INSTANCE");
    const instance = "a" as InstanceId;
    const pinned = { instance, rule: "PINNED", wants: "b", has: "a" } as const;
    const draining = { instance, rule: "STATE", state: "DRAINING" } as const;
    expect(whyUnplaceable({ refusals: [draining, pinned, draining] })).toBe("PINNED, STATE DRAINING");
  });

  it("holds the whole question and all facts, with the instances by id", () => {
    const { question, placement, decision } = decided(0);
    const byId = [...question.candidates].sort((a, b) => a.id.localeCompare(b.id));
    expect(byId.map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
    expect(decision.details).toEqual({
      ...placement.facts,
      chosen: placement.facts.preferred,
      load: UNIT.load,
      policy: DEFAULT_POLICY,
      class: { instances: 4, byState: { ACTIVE: 4 }, hash: contentHash(byId.map(contentHash)) },
      candidates: byId,
    });
    const reversed = { ...question, candidates: [...question.candidates].reverse() };
    expect(placementDecision(reversed, placeUnit(reversed), AT)).toEqual(decision);
  });

  it("leaves the question as it was", () => {
    const { question } = decided(0);
    expect(question.candidates.map(({ id }) => id)).toEqual(["b", "d", "a", "c"]);
  });
});

describe("the entry of a large class", () => {
  const STATES = ["ACTIVE", "ACTIVE", "ACTIVE", "DRAINING", "CREATING"] as const;
  const aCandidate = (index: number, [applications, state]: readonly [number, number]): Candidate => ({
    id: `instance-${String(index).padStart(4, "0")}` as InstanceId,
    name: `standard-${index}`,
    state: STATES[state % STATES.length] ?? "ACTIVE",
    weight: 1,
    capacity: CAPACITY,
    load: { ...ZERO_LOAD, applications },
  });
  const loads = fc.array(fc.tuple(fc.integer({ min: 0, max: 100_000 }), fc.nat(20)), { minLength: 25, maxLength: 50 });

  it("gives the recorded answer again under the recorded bound (P5)", () => {
    fc.assert(
      fc.property(loads, (all) => {
        const question = { unit: UNIT, candidates: all.map((one, index) => aCandidate(index, one)), policy: DEFAULT_POLICY };
        const { details, verdict, rule } = JSON.parse(JSON.stringify(placementDecision(question, placeUnit(question), AT))) as ReturnType<
          typeof placementDecision
        >;
        const { candidates, policy, bound, load, chosen } = details as unknown as typeof question & {
          readonly bound: number;
          readonly load: typeof ZERO_LOAD;
          readonly chosen: string | null;
        };
        expect(candidates.length).toBeLessThanOrEqual(24);
        const again = placeUnit({ unit: { ...UNIT, load }, candidates, policy: { ...policy, activity: bound, hardLimit: bound } });
        expect(again.kind === "chosen" ? again.instance : null).toBe(chosen);
        expect(again.kind === "chosen" ? ["CHOSEN", again.rule] : ["UNPLACEABLE", "NOTHING_FITS"]).toEqual([verdict, rule]);
      }),
      { numRuns: 60 },
    );
  });

  it.each([0, 8, 20])("is as small with two thousand instances as with fifty, with %i passed over", (passedOver) => {
    const sizeOf = (instances: number): number => {
      const candidates = Array.from({ length: instances }, (_, index) => aCandidate(index, [90_000, 0]));
      const question = { unit: UNIT, candidates, policy: DEFAULT_POLICY };
      const ids = candidates.map(({ id }) => id);
      const refusals = ids.slice(0, passedOver).map((instance) => ({ instance, rule: "STATE", state: "DRAINING" }) as const);
      const facts = { preferred: ids[0], ring: "r", mean: 900_000, bound: 900_000, refusals };
      const chosen = { kind: "chosen", instance: ids[30] as InstanceId, rule: "LEAST_LOADED", ceiling: CAPACITY, facts } as const;
      return JSON.stringify(placementDecision(question, chosen, AT)).length;
    };
    expect(sizeOf(2000)).toBeLessThan(sizeOf(50) + 100);
    expect(sizeOf(2000)).toBeLessThan(10_000);
  });
});
