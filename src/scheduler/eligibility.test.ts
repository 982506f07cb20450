import { describe, expect, it } from "vitest";
import type { InstanceId } from "../domain/ids.ts";
import { INSTANCE_STATES } from "../domain/instance.ts";
import type { UnitNeeds } from "../domain/needs.ts";
import { NO_CONSTRAINTS, type Offer, type PlacementConstraints, whyNotEligible, whyNotStay } from "./eligibility.ts";
import { TRAITS } from "./testing/snapshots.ts";

const A = "a" as InstanceId;
const OFFER: Offer = { id: A, state: "ACTIVE", traits: TRAITS };
const constraints = (needs: UnitNeeds, more: Partial<PlacementConstraints> = {}): PlacementConstraints => ({
  ...NO_CONSTRAINTS,
  needs: [needs],
  ...more,
});
const offer = (traits: Partial<typeof TRAITS>, more: Partial<Offer> = {}): Offer => ({
  ...OFFER,
  traits: { ...TRAITS, ...traits },
  ...more,
});

describe("what a unit demands of an instance", () => {
  it.each<[string, PlacementConstraints, Offer, string | undefined]>([
    ["nothing", NO_CONSTRAINTS, OFFER, undefined],
    ["nothing, of an instance nothing is known of", NO_CONSTRAINTS, { id: A, state: "ACTIVE" }, undefined],
    ["its class", { ...NO_CONSTRAINTS, class: TRAITS.class }, OFFER, undefined],
    ["another class", { ...NO_CONSTRAINTS, class: "us" }, OFFER, "CLASS: us, not eu/shared/public"],
    ["a safe version", NO_CONSTRAINTS, offer({ isBelowFloor: true }), "FLOOR: a version at or above the floor, not one below it"],
    ["nothing, of an instance that is dedicated", NO_CONSTRAINTS, offer({ dedication: "acme" }), "DEDICATION: nobody, not acme"],
    ["its own dedicated instance", constraints({ dedication: "acme" }), offer({ dedication: "acme" }), undefined],
    ["its own dedicated instance, of one for all", constraints({ dedication: "acme" }), OFFER, "DEDICATION: acme, not nobody"],
    [
      "something else, of an instance that is dedicated",
      constraints({ region: "eu" }),
      offer({ dedication: "acme" }),
      "DEDICATION: nobody, not acme",
    ],
    ["this instance", constraints({ pinnedTo: ["b" as InstanceId, A] }), OFFER, undefined],
    ["other instances", constraints({ pinnedTo: ["c" as InstanceId, "b" as InstanceId] }), OFFER, "PINNED: b, c, not a"],
    ["no instance at all", constraints({ pinnedTo: [] }), OFFER, "PINNED: , not a"],
    ["any but this instance", constraints({ notOn: [A] }), OFFER, "NOT_ON: not a, not a"],
    ["any but another instance", constraints({ notOn: ["b" as InstanceId] }), OFFER, undefined],
    ["its region", constraints({ region: "eu" }), OFFER, undefined],
    ["another region", constraints({ region: "us" }), OFFER, "REGION: us, not eu"],
    ["a region, of an instance nothing is known of", constraints({ region: "us" }), { id: A, state: "ACTIVE" }, "REGION: us, not unknown"],
    ["more trust", constraints({ trust: "internal" }), OFFER, "TRUST: internal, not public"],
    ["another channel", constraints({ channel: "edge" }), OFFER, "CHANNEL: edge, not stable"],
    ["to join its group here", { ...NO_CONSTRAINTS, joins: A }, OFFER, undefined],
    ["to join its group elsewhere", { ...NO_CONSTRAINTS, joins: "b" as InstanceId }, OFFER, "TOGETHER: b, not a"],
    ["to be apart from nobody here", { ...NO_CONSTRAINTS, apart: ["x"] }, { ...OFFER, occupied: ["y"] }, undefined],
    ["to be apart from somebody here", { ...NO_CONSTRAINTS, apart: ["x"] }, { ...OFFER, occupied: ["x"] }, "APART: none of x, not x"],
    ["to be apart from itself", { ...NO_CONSTRAINTS, apart: ["x", "x"] }, OFFER, "APART: none of x, not x"],
    [
      "an instance it failed to reach",
      { ...NO_CONSTRAINTS, failedAt: [A] },
      OFFER,
      "FAILED_BEFORE: an instance it could be moved to, not a",
    ],
    [
      "two things, of which the second is not met",
      { ...NO_CONSTRAINTS, needs: [{ region: "eu" }, { region: "us" }] },
      OFFER,
      "REGION: us, not eu",
    ],
  ])("%s", (_what, asked, offered, unmet) => {
    const refusal = whyNotEligible(asked, offered);
    const text = refusal === undefined || !("wants" in refusal) ? undefined : `${refusal.rule}: ${refusal.wants}, not ${refusal.has}`;
    expect(text).toBe(unmet);
    if (refusal !== undefined) expect(refusal.instance).toBe("a");
  });

  it("is an ACTIVE instance before anything else, and to stay one that is not being emptied", () => {
    for (const state of INSTANCE_STATES) {
      const refusal = { instance: "a", rule: "STATE", state };
      expect(whyNotEligible(constraints({ region: "us" }), { ...OFFER, state })).toEqual(
        state === "ACTIVE" ? expect.objectContaining({ rule: "REGION" }) : refusal,
      );
      expect(whyNotStay(NO_CONSTRAINTS, { ...OFFER, state })).toEqual(["ACTIVE", "CORDONED"].includes(state) ? undefined : refusal);
    }
  });

  it("is one that works: one that stands still or fails takes nothing new, one of unknown health only if that is allowed", () => {
    for (const health of ["stalled", "failed", "unknown"] as const) {
      const refusal = { instance: "a", rule: "HEALTH", health };
      expect(whyNotEligible(NO_CONSTRAINTS, { ...OFFER, health })).toEqual(refusal);
      expect(whyNotEligible(NO_CONSTRAINTS, { ...OFFER, health }, true)).toEqual(health === "unknown" ? undefined : refusal);
      expect(whyNotStay(NO_CONSTRAINTS, { ...OFFER, health })).toBeUndefined();
    }
  });

  it("sends no unit away for an old version or a failed move, but for every other demand", () => {
    expect(whyNotStay(NO_CONSTRAINTS, offer({ isBelowFloor: true }))).toBeUndefined();
    expect(whyNotStay({ ...NO_CONSTRAINTS, failedAt: [A] }, OFFER)).toBeUndefined();
    expect(whyNotStay(NO_CONSTRAINTS, offer({ dedication: "acme" }))).toMatchObject({ rule: "DEDICATION" });
    expect(whyNotStay(constraints({ trust: "internal" }), OFFER)).toMatchObject({ rule: "TRUST" });
  });
});
