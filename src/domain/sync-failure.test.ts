import { describe, expect, test } from "vitest";
import { withCulprits } from "./sync-failure.ts";

const MESSAGE = "one or more objects failed to apply (dry run)";
const hook = (over: object = {}) => ({
  kind: "Job",
  name: "migrate",
  namespace: "jane",
  hookType: "PreSync",
  hookPhase: "Failed",
  ...over,
});
const object = (over: object = {}) => ({ kind: "ConfigMap", name: "web", namespace: "jane", status: "SyncFailed", ...over });

describe("what a sync failed of", () => {
  test.each([
    ["a hook", [hook({ message: "Job has reached\n the limit" })], "PreSync hook Job migrate in namespace jane: Job has reached the limit"],
    ["an object", [object({ message: "quota" }), object({ status: "Synced" })], "ConfigMap web in namespace jane: quota"],
    ["one without namespace", [object({ namespace: undefined, message: "no" })], "ConfigMap web: no"],
    ["one whose words stand in the message", [object({ message: "dry run" })], "ConfigMap web in namespace jane"],
    ["hooks before objects", [object(), hook()], "PreSync hook Job migrate in namespace jane; ConfigMap web in namespace jane"],
    [
      "more than can be named",
      Array.from({ length: 9 }, () => object({ name: "a" })),
      `${"ConfigMap a in namespace jane; ".repeat(3)}and 6 more`,
    ],
  ])("is named: %s", (_what, resources, expected) => {
    expect(withCulprits(MESSAGE, resources)).toBe(`${MESSAGE}: ${expected}`);
  });

  test("is said although there is no message", () => {
    expect(withCulprits("", [object()])).toBe("The sync failed: ConfigMap web in namespace jane");
  });

  test.each([
    undefined,
    null,
    "x",
    {},
    [],
    [null, 7, []],
    [object({ status: "Synced" })],
    [hook({ hookPhase: "Succeeded" })],
    [{ hookType: 7, hookPhase: {}, status: [] }],
  ])("is the message alone where nothing failed is named: %j", (resources) => {
    expect(withCulprits(MESSAGE, resources)).toBe(MESSAGE);
  });

  test("is bounded, whatever was made of it", () => {
    const huge = "x".repeat(100_000);
    const all = Array.from({ length: 500 }, () => hook({ message: huge, kind: huge, name: huge, namespace: huge, hookType: huge }));
    expect(withCulprits(MESSAGE, all).length).toBeLessThan(2200);
  });
});
