import { describe, expect, it } from "vitest";
import { finalizersOf, parseNamespace, parseResource, resourceDiffersInRequest } from "./parse-resource.ts";
import { aResource } from "./testing/builders.ts";

describe("reading a resource as the API server sends it", () => {
  it("keeps conditions that have a type and a status, with the texts among their fields", () => {
    const conditions = [{ type: "Ready", status: "True", reason: "Synced", message: 7, other: "x" }, { type: "NoStatus" }, "text", null];
    const parsed = parseResource({ metadata: { name: "a", uid: "u" }, status: { conditions, observedGeneration: "3" } });
    expect(parsed).toMatchObject({
      conditions: [{ type: "Ready", status: "True", reason: "Synced" }],
      observedGeneration: undefined,
      generation: 0,
      spec: undefined,
    });
    expect(parsed?.conditions[0]).not.toHaveProperty("other");
  });

  it.each([undefined, null, "text", [], {}, { metadata: {} }, { metadata: { name: "a" } }, { metadata: { uid: "u" } }])(
    "does not make one of %j",
    (raw) => {
      expect(parseResource(raw)).toBeUndefined();
      expect(parseNamespace(raw)).toBeUndefined();
    },
  );

  it("turns a poke into something that differs for each poke and says nothing else", () => {
    const pokes = [undefined, "now", "later", "<script>", "x".repeat(200_000)].map(
      (poke) => parseResource({ metadata: { name: "a", uid: "u", annotations: { "argosy.dev/refreshed-at": poke } } })?.refreshedAt,
    );
    expect(pokes[0]).toBe("");
    // An Application that stands carries it: another one would refresh all of them at an upgrade.
    expect(pokes[1]).toBe("ed5eb9a37e2d8231");
    expect(new Set(pokes).size).toBe(5);
    for (const poke of pokes.slice(1)) expect(poke).toMatch(/^[0-9a-f]{16}$/);
  });

  it("takes only what is spelled exactly for a pause", () => {
    const pausedBy = (value: unknown) =>
      parseResource({ metadata: { name: "a", uid: "u", annotations: { "argosy.dev/paused": value } } })?.isPaused;
    expect([true, "true", "True", "yes", ""].map(pausedBy)).toEqual([false, true, false, false, false]);
  });

  it("leaves out labels and finalizers that are no text", () => {
    expect(parseNamespace({ metadata: { name: "a", uid: "u", labels: { x: "y", z: 1 }, deletionTimestamp: "now" } })).toEqual({
      name: "a",
      uid: "u",
      labels: { x: "y" },
      isDeleting: true,
    });
    expect(finalizersOf({ metadata: { finalizers: ["a", 1] } })).toEqual(["a", ""]);
    expect(finalizersOf(undefined)).toEqual([]);
  });
});

describe("a change of what a user requests", () => {
  const before = aResource({ conditions: [{ type: "Ready", status: "True" }] });

  it.each([
    { uid: "other" },
    { generation: 2 },
    { isDeleting: true },
    { isHeld: true },
    { isPaused: true },
    { refreshedAt: "now" },
    { isOneTooMany: true },
    { conditions: [] },
  ])("is %j", (change) => {
    expect(resourceDiffersInRequest(before, { ...before, ...change })).toBe(true);
  });

  it("is a resource seen for the first time, and no status of ours", () => {
    expect(resourceDiffersInRequest(undefined, before)).toBe(true);
    expect(resourceDiffersInRequest(before, { ...before, conditions: [{ type: "Ready", status: "False" }], observedGeneration: 1 })).toBe(
      false,
    );
  });
});
