import { describe, expect, it } from "vitest";
import { apartKey, areSameGroups, clashesOf, type GroupRule, groupsOfLabels, groupsText } from "./groups.ts";

const CUSTOMER = "class.argosy.dev/customer";
const PRODUCT = "class.argosy.dev/product";
const RULES: readonly GroupRule[] = [
  { label: CUSTOMER, rule: "apart" },
  { label: PRODUCT, rule: "together" },
];

describe("the groups of a workspace", () => {
  it("are what its namespace's labels say that rules name, and an empty value is one", () => {
    expect(groupsOfLabels({ [CUSTOMER]: "acme", [PRODUCT]: "shop", team: "web" }, RULES)).toEqual({
      apart: { [CUSTOMER]: "acme" },
      together: `${PRODUCT}=shop`,
    });
    expect(groupsOfLabels({ [CUSTOMER]: "" }, RULES)).toEqual({ apart: { [CUSTOMER]: "" } });
    expect(groupsOfLabels({ team: "web" }, RULES)).toEqual({ apart: {} });
    expect(groupsOfLabels({}, [{ label: "constructor", rule: "apart" }])).toEqual({ apart: {} });
  });

  it("are the same whatever order their labels have, and none is nothing", () => {
    const [one, other] = [{ apart: { a: "1", b: "2" } }, { apart: { b: "2", a: "1" } }];
    expect(areSameGroups(one, other)).toBe(true);
    expect(apartKey(one)).toBe(apartKey(other));
    expect(areSameGroups(undefined, { apart: {} })).toBe(true);
    expect(areSameGroups(one, { ...one, together: "c=3" })).toBe(false);
  });

  it("keep it from other values of its own labels, and from nobody else", () => {
    const own = { apart: { a: "1", b: "2" } };
    expect(clashesOf(own, { apart: { a: "1", c: "3" } })).toEqual([]);
    expect(clashesOf(own, { apart: { a: "2", b: "1" } })).toEqual([
      { label: "a", value: "2" },
      { label: "b", value: "1" },
    ]);
    expect(clashesOf(own, undefined)).toEqual([]);
    expect(clashesOf(undefined, own)).toEqual([]);
  });

  it("are shown as a sentence", () => {
    expect(groupsText(groupsOfLabels({ [CUSTOMER]: "acme", [PRODUCT]: "shop" }, RULES))).toBe(
      "class.argosy.dev/customer=acme apart from other values, class.argosy.dev/product=shop together where that is possible",
    );
    expect(groupsText(undefined)).toBe("");
  });
});
