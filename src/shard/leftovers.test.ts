import { describe, expect, test } from "vitest";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { judgeLeftovers, type LeftoverFacts, type UnitObject } from "./leftovers.ts";

const HERE = "instance-1" as InstanceId;
const ELSEWHERE = "instance-2" as InstanceId;

function anObject(unit: string | undefined, over: Partial<UnitObject["observed"]> = {}, kind: UnitObject["kind"] = "project"): UnitObject {
  const labels = unit === undefined ? {} : { "argosy.dev/unit": unit };
  const at = { namespace: "argocd-1", name: `${kind}-of-${unit}` };
  const plain = { uid: "u", resourceVersion: "1", annotations: {}, revision: 1, contentHash: "", fixedHash: "", isDeleting: false };
  return { kind, observed: { ...plain, at, labels, epoch: 7, ...over } };
}
const judge = (objects: readonly UnitObject[], over: Partial<LeftoverFacts> = {}) =>
  judgeLeftovers({ instanceId: HERE, objects, units: new Map(), inUse: new Set(), ...over }).length;
const at = (owner: InstanceId | undefined, epoch: number) => ({ units: new Map([["unit-1" as UnitId, { owner, epoch }]]) });

describe("what stands for a unit", () => {
  const one = [anObject("unit-1")];
  test.each([
    ["goes when the unit is gone", one, {}, 1],
    ["stays when the unit lives here", one, at(HERE, 7), 0],
    ["goes when the unit lives elsewhere", one, at(ELSEWHERE, 7), 1],
    ["goes when it says nothing of an epoch", [anObject("unit-1", { epoch: undefined })], at(ELSEWHERE, 7), 1],
    ["stays when it is of a newer epoch than the row that was read", [anObject("unit-1", { epoch: 8 })], at(ELSEWHERE, 7), 0],
    ["stays when it is on its way out", [anObject("unit-1", { isDeleting: true })], {}, 0],
    ["stays when it is nobody's", [anObject(undefined)], {}, 0],
  ] as const)("%s", (_what, objects, over, count) => {
    expect(judge(objects, over)).toBe(count);
  });

  test("stays as long as Applications of the unit stand, but for credentials", () => {
    const objects = (["project", "entry", "account", "repository"] as const).map((kind) => anObject("unit-1", {}, kind));
    expect(judge(objects, { inUse: new Set(["unit-1" as UnitId]) })).toBe(1);
    expect(judge(objects)).toBe(4);
  });

  test("goes as the owner binding of a part only when that is gone, wherever it lived", () => {
    const binding = [anObject("unit-1", {}, "part-binding")];
    expect(judge(binding)).toBe(1);
    expect(judge(binding, at(ELSEWHERE, 7))).toBe(0);
    expect(judge(binding, at(undefined, 9))).toBe(0);
    expect(judge(binding, { inUse: new Set(["unit-1" as UnitId]) })).toBe(0);
  });

  test("stays when very many units are missing at once, as after a loss of data; one with many objects is one (I2)", () => {
    const units = (count: number) => Array.from({ length: count }, (_, index) => anObject(`unit-${index}`));
    expect(judge(units(11))).toBe(0);
    expect(judge(units(10))).toBe(10);
    expect(judge(Array.from({ length: 50 }, (_, index) => anObject("unit-1", { uid: `${index}` }, "repository")))).toBe(50);
  });
});
