import { describe, expect, it } from "vitest";
import { syncFailureOf, syncOperationOf } from "./failing-sync.ts";
import type { EngineStatus, SyncState } from "./status.ts";

const AT = "2026-01-01T00:00:00Z";
const status = (
  operationState: EngineStatus["operationState"],
  { sync = "OutOfSync", conditions = [] }: { readonly sync?: SyncState; readonly conditions?: EngineStatus["conditions"] } = {},
) => ({ operationState, conditions, sync: { status: sync, revision: "new" } });

describe("a sync that fails", () => {
  it("is one that is tried again, with what it failed of, since when and how often", () => {
    const resources = [{ kind: "ConfigMap", name: "Bad", status: "SyncFailed", message: "invalid name" }];
    const message = "one or more objects failed to apply. Retrying attempt #3 at 2:15PM.";
    const state = { phase: "Running", startedAt: AT, finishedAt: AT, retryCount: 2, message, syncResult: { revision: "old", resources } };
    expect(syncFailureOf(status(state))).toEqual({
      message: "one or more objects failed to apply.: ConfigMap Bad: invalid name",
      since: Date.parse(AT),
      attempt: 3,
    });
    expect(syncOperationOf(status(state))).toMatchObject({ phase: "Running", revision: "old", attempt: 3, finishedAt: Date.parse(AT) });
    // A hook after the sync fails while everything else is as Git says.
    expect(syncFailureOf(status(state, { sync: "Synced" }))).toBeDefined();
  });

  it("is one that has failed and was not overtaken", () => {
    const failed = (revision: string) => ({ phase: "Failed", message: "no", syncResult: { revision } });
    expect(syncFailureOf(status(failed("new")))).toEqual({ message: "no", since: undefined, attempt: 1 });
    expect(syncFailureOf(status(failed("new"), { sync: "Synced" }))).toBeDefined();
    expect(syncFailureOf(status(failed("old"), { sync: "Synced" }))).toBeUndefined();
  });

  it("is one of which Argo CD says that it tries no more", () => {
    const conditions = [{ type: "SyncError", message: "Failed last sync attempt to abc" }];
    expect(syncFailureOf(status(undefined, { conditions }))).toEqual({ message: conditions[0]?.message, since: undefined, attempt: 1 });
    expect(syncFailureOf(status({ phase: "Error", message: "why" }, { conditions }))?.message).toBe("why");
    expect(syncFailureOf(status({ phase: "Failed" }))?.message).toBe("Argo CD gives no reason");
  });

  it("is none that is under way for the first time, was done, or never was", () => {
    expect(syncFailureOf(status({ phase: "Running", startedAt: AT }))).toBeUndefined();
    expect(syncFailureOf(status({ phase: "Succeeded", finishedAt: AT }))).toBeUndefined();
    expect(syncFailureOf(status(undefined))).toBeUndefined();
    expect(syncOperationOf(status({}))).toBeUndefined();
    expect(syncOperationOf(status({ phase: "Running", retryCount: -1, operation: { sync: { revision: "x" } } }))).toMatchObject({
      revision: "x",
      attempt: 1,
    });
  });
});
