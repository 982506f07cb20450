import { expect, it } from "vitest";
import { oddWordsOf } from "./user-watch.ts";

const reported = (sync: string, health: string, conditions: readonly object[] = []) =>
  oddWordsOf({ status: { sync: { status: sync }, health: { status: health }, conditions } } as never);

it("accepts the states that a push, an edit or a sync leads to, and no others", () => {
  const ready = { type: "Ready", status: "False", reason: "Progressing" };
  expect(reported("Synced", "Healthy")).toEqual([]);
  expect(reported("OutOfSync", "Progressing", [ready, { type: "SyncError", status: "False", reason: "Gone" }])).toEqual([]);
  expect(reported("Synced", "Missing")).toEqual(["health Missing"]);
  expect(reported("Unknown", "Healthy", [{ ...ready, reason: "Moving" }])).toEqual(["sync Unknown", "Ready Moving"]);
  expect(reported("Synced", "Healthy", [{ type: "SyncError", status: "True", reason: "Failed" }])).toEqual(["SyncError Failed"]);
  expect(oddWordsOf({} as never)).toEqual(["sync undefined", "health undefined"]);
});
