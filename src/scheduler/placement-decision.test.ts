import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { ZERO_LOAD } from "../domain/load.ts";
import { placeUnit, type Seat } from "./place-unit.ts";
import { placementDecision } from "./placement-decision.ts";
import { DEFAULT_POLICY } from "./policy.ts";

const AT = millis(1_700_000_000_000);
const CAPACITY = { applications: 100_000, clusterEntries: 10, cachedResources: 1000, milliCpu: 1000, gitPerMinute: 1000 };
const UNIT = { id: "u-1" as UnitId, load: { ...ZERO_LOAD, applications: 1000 } };

const seatsAt = (applications: number): readonly Seat[] =>
  ["b", "d", "a", "c"].map((name) => ({
    id: name as InstanceId,
    name: `instance ${name}`,
    state: "ACTIVE",
    weight: 1,
    capacity: CAPACITY,
    load: { ...ZERO_LOAD, applications },
  }));

function decided(applications: number) {
  const question = { unit: UNIT, seats: seatsAt(applications), policy: DEFAULT_POLICY };
  const placement = placeUnit(question);
  return { question, placement, decision: placementDecision(question, placement, AT) };
}

describe("the journal's entry of a placement", () => {
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

  it("holds the whole question and all facts, with the instances by id", () => {
    const { question, placement, decision } = decided(0);
    const byId = [...question.seats].sort((a, b) => a.id.localeCompare(b.id));
    expect(byId.map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
    expect(decision.details).toEqual({
      ...placement.facts,
      chosen: placement.facts.preferred,
      load: UNIT.load,
      policy: DEFAULT_POLICY,
      seats: byId,
    });
    const reversed = { ...question, seats: [...question.seats].reverse() };
    expect(placementDecision(reversed, placeUnit(reversed), AT)).toEqual(decision);
  });

  it("leaves the question as it was", () => {
    const { question } = decided(0);
    expect(question.seats.map(({ id }) => id)).toEqual(["b", "d", "a", "c"]);
  });
});
