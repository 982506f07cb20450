import { expect, it } from "vitest";
import { parseHeldObjects } from "./parse-held-objects.ts";

const type = { group: "apps", kind: "Deployment" };
const item = (name: string, over: object) => ({ metadata: { namespace: "team", name, ...over } });
const at = "2026-01-01T00:00:00Z";

it("finds what is being deleted and has finalizers, by name, and nothing else", () => {
  const items = [
    item("web", { deletionTimestamp: at, finalizers: ["b.example/x", "a.example/y", 7] }),
    item("api", { deletionTimestamp: at, finalizers: ["a.example/y"] }),
    item("going", { deletionTimestamp: at, finalizers: [] }),
    item("wanted", { finalizers: ["a.example/y"] }),
    "no object",
  ];
  expect(parseHeldObjects({ items }, type)).toEqual([
    { ...type, namespace: "team", name: "api", finalizers: ["a.example/y"] },
    { ...type, namespace: "team", name: "web", finalizers: ["b.example/x", "a.example/y"] },
  ]);
});

it("names five finalizers of an object at most, and takes an answer of another shape for empty", () => {
  const finalizers = Array.from({ length: 50 }, (_, index) => `f.example/${index}`);
  expect(parseHeldObjects({ items: [item("a", { deletionTimestamp: at, finalizers })] }, type)[0]?.finalizers).toHaveLength(5);
  for (const odd of [undefined, null, "x", { items: 7 }]) expect(parseHeldObjects(odd, type)).toEqual([]);
});
