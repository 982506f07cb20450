import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { NO_DIRECTIVE } from "../domain/directive.ts";
import type { InstanceId } from "../domain/ids.ts";
import { NO_CONSTRAINTS, whyNotEligible, whyNotStay } from "./eligibility.ts";
import { instanceTraits } from "./instance-traits.ts";
import { unitNeeds } from "./unit-needs.ts";

const ROW = { class: "eu/shared/public", engineCluster: "eu-1", version: "3.5.7" };

describe("what an instance offers", () => {
  it("is what its class says, and the engine cluster of its row", () => {
    expect(instanceTraits(ROW, undefined)).toEqual({
      ...{ class: "eu/shared/public", region: "eu", trust: "public", engineCluster: "eu-1", isBelowFloor: false },
    });
    expect(instanceTraits({ ...ROW, class: "us/own/internal/rapid" }, undefined)).toMatchObject({
      ...{ region: "us", trust: "internal", channel: "rapid" },
    });
  });

  it.each([
    ["3.5.7", "3.5.8", true],
    ["3.5.7", "3.5.7", false],
    ["3.10.0", "3.9.9", false],
    ["latest", "3.0.0", true],
  ])("with version %s under a floor of %s is below it: %s", (version, floor, isBelowFloor) => {
    expect(instanceTraits({ ...ROW, version }, floor).isBelowFloor).toBe(isBelowFloor);
  });

  it("keeps its units and takes none while its version is not safe", () => {
    const offer = { id: "a" as InstanceId, state: "ACTIVE" as const, traits: instanceTraits(ROW, "3.6.0") };
    expect(whyNotEligible(NO_CONSTRAINTS, offer)).toMatchObject({ rule: "FLOOR" });
    expect(whyNotStay(NO_CONSTRAINTS, offer)).toBeUndefined();
  });
});

describe("what a unit demands", () => {
  const said = { actor: "otto", reason: "", at: millis(0) };
  const unit = { class: ROW.class, trustClass: "public", directive: NO_DIRECTIVE };
  const candidates = [
    { id: "b" as InstanceId, pool: "standard" },
    { id: "a" as InstanceId, pool: "standard" },
    { id: "c" as InstanceId, pool: "other" },
  ];

  it("is nothing if its workspace has the trust of its class", () => {
    expect(unitNeeds(unit, candidates)).toBeUndefined();
  });

  it("is its workspace's trust if the class has another one; no instance of the class meets that", () => {
    const needs = unitNeeds({ ...unit, trustClass: "internal" }, candidates);
    expect(needs).toEqual({ trust: "internal" });
    const constraints = { ...NO_CONSTRAINTS, needs: [needs ?? {}] };
    const offer = { id: "a" as InstanceId, state: "ACTIVE" as const, traits: instanceTraits(ROW, undefined) };
    expect(whyNotEligible(constraints, offer)).toEqual({ instance: "a", rule: "TRUST", wants: "internal", has: "public" });
    expect(whyNotStay(constraints, offer)).toMatchObject({ rule: "TRUST" });
  });

  it("is one of the instances that a pin names, besides that", () => {
    const pool = { ...unit, directive: { ...NO_DIRECTIVE, pin: { kind: "pool", pool: "standard", ...said } as const } };
    expect(unitNeeds(pool, candidates)).toEqual({ pinnedTo: ["a", "b"] });
    expect(unitNeeds({ ...pool, trustClass: "internal" }, [])).toEqual({ pinnedTo: [], trust: "internal" });
    const instance = {
      ...unit,
      directive: { ...NO_DIRECTIVE, pin: { kind: "instance", instance: "gone" as InstanceId, ...said } as const },
    };
    expect(unitNeeds(instance, candidates)).toEqual({ pinnedTo: ["gone"] });
  });
});
