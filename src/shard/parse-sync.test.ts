import { expect, test } from "vitest";
import { differsInRun, parseSync } from "./parse-sync.ts";

const operation = {
  info: [
    { name: "Reason", value: "x" },
    { name: "argosy.dev/sync-run", value: "run-1" },
  ],
  sync: { revision: "main" },
};

test("reads whose an operation is, and what is said of it", () => {
  const operationState = {
    ...{
      phase: "Failed",
      message: "one or more tasks failed",
      operation,
      startedAt: "2026-01-01T00:00:00Z",
      finishedAt: "2026-01-01T00:00:09Z",
    },
    syncResult: {
      revision: "0123",
      resources: [
        { kind: "ConfigMap", name: "plain", status: "Synced" },
        { kind: "Job", name: "migrate", namespace: "team", hookType: "PreSync", hookPhase: "Failed", message: "exit 1" },
      ],
    },
  };
  expect(parseSync({ operation, status: { operationState } })).toEqual({
    operation: { run: "run-1" },
    state: {
      ...{
        run: "run-1",
        phase: "Failed",
        message: "one or more tasks failed: PreSync hook Job migrate in namespace team: exit 1",
        revision: "0123",
      },
      ...{ startedAt: Date.UTC(2026, 0, 1), finishedAt: Date.UTC(2026, 0, 1, 0, 0, 9) },
      hooks: [{ kind: "Job", namespace: "team", name: "migrate", type: "PreSync", phase: "Failed", message: "exit 1" }],
    },
  });
});

test.each([
  ["nothing", {}, { operation: undefined, state: undefined }],
  ["null", { operation: null, status: { operationState: null } }, { operation: undefined, state: undefined }],
  ["an operation of somebody else's", { operation: { info: "odd" } }, { operation: { run: undefined }, state: undefined }],
  ["an empty operation", { operation: {} }, { operation: { run: undefined }, state: undefined }],
  [
    "an empty mark",
    { operation: { info: [{ name: "argosy.dev/sync-run", value: "" }] } },
    { operation: { run: undefined }, state: undefined },
  ],
])("takes %s as it is", (_what, raw, expected) => expect(parseSync(raw)).toEqual(expected));

test("bounds what is said, and names nothing that failed where nothing did", () => {
  const resources = [{ kind: "Job", name: "migrate", hookType: "PreSync", hookPhase: "Failed" }];
  const messageOf = (state: object) => parseSync({ status: { operationState: { syncResult: { resources }, ...state } } }).state?.message;
  expect(messageOf({ phase: "Error", message: "m".repeat(5000) })).toHaveLength(4096);
  expect(messageOf({ phase: "Running", message: "waiting" })).toBe("waiting");
  expect(messageOf({ phase: "Running", message: "failed", finishedAt: "2026-01-01T00:00:09Z" })).toBe("failed: PreSync hook Job migrate");
});

test("takes an unknown phase for one under way, and the revision asked for while none is reported", () => {
  const parsed = parseSync({ status: { operationState: { phase: 7, operation } } });
  expect(parsed.state).toMatchObject({ phase: "Running", revision: "main", hooks: [] });
});

test("only a change of a run of ours counts as a change", () => {
  const [none, ours, foreign] = [parseSync({}), parseSync({ operation }), parseSync({ operation: {} })];
  expect([
    ...[differsInRun(undefined, none), differsInRun(none, foreign), differsInRun(ours, ours)],
    ...[differsInRun(none, ours), differsInRun(ours, none), differsInRun(ours, foreign)],
  ]).toEqual([false, false, false, true, true, true]);
});
