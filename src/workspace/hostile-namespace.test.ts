import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { parseResource, withoutContent } from "./parse-resource.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const heapUsed = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

/** Enough to tell what one costs: ten thousand, as one namespace may hold, take twenty times as long to make. */
const OBJECTS = 500;
const ANNOTATION_BYTES = 200 * 1024;
/** What is kept of one resource with a spec of a few hundred bytes: a dozen short texts. */
const KEPT_AT_MOST = 4 * 1024;

const poke = "x".repeat(ANNOTATION_BYTES);

/** As it comes from an API server: each text is one of its own. */
function resource(index: number): unknown {
  const metadata = { namespace: "jane", name: `app-${index}`, uid: `uid-${index}`, annotations: { "argosy.dev/refreshed-at": poke } };
  const spec = { source: { repoURL: `https://git.example/${"y".repeat(200)}`, path: "." }, type: "automated" };
  const status = { conditions: [{ type: "Ready", status: "False", reason: "Hostile", message: "" }] };
  return JSON.parse(JSON.stringify({ metadata, spec, status }));
}

it("a namespace full of resources with annotations of 200 KB each: of 10,000 less than 40 MB are kept by whoever serves everybody", {
  timeout: 120_000,
}, () => {
  const before = heapUsed();
  const kept = Array.from({ length: OBJECTS }, (_, index) => parseResource(resource(index)));
  const bytes = (heapUsed() - before) / OBJECTS;
  expect(kept).toHaveLength(OBJECTS);
  expect(bytes, `${Math.round(bytes)} bytes of each`).toBeLessThan(KEPT_AT_MOST);
});

it("conditions that are foreign and many, or long, are not kept whole either", () => {
  const conditions = Array.from({ length: 5_000 }, (_, index) => ({ type: `T${index}`, status: "True", message: "m".repeat(30_000) }));
  const parsed = parseResource({ metadata: { namespace: "jane", name: "app", uid: "uid" }, spec: { a: 1 }, status: { conditions } });
  expect(parsed?.conditions).toHaveLength(64);
  expect(Math.max(...(parsed?.conditions ?? []).map(({ message = "" }) => message.length))).toBe(8192);
  const rest = parsed && withoutContent(parsed);
  expect(rest).toMatchObject({ name: "app", uid: "uid", isOneTooMany: true, spec: undefined });
  expect(JSON.stringify(rest?.conditions).length).toBeLessThan(10_000);
});
