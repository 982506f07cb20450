import { describe, expect, it } from "vitest";
import { type SeenSync, secondSyncs, syncsOf } from "./sync-watch.ts";

const metadata = { name: "app", namespace: "standard-1" };
const source = { path: "one" };
const aSync = (over: Partial<SeenSync> = {}): SeenSync => ({
  ...{ application: "app", startedAt: "2026-01-01T00:00:01Z", revision: "abc", source: '{"path":"one"}' },
  ...over,
});

describe("the syncs that an Application shows", () => {
  it("are the last one and those of its history; a requested one does not count yet", () => {
    const history = [{ id: 0, deployStartedAt: "2026-01-01T00:00:01Z", revision: "abc", source }];
    const operationState = { startedAt: "2026-01-01T00:00:09Z", syncResult: { revision: "def", source } };
    const application = { metadata, status: { history, operationState } };
    expect(syncsOf(application)).toEqual([aSync({ startedAt: "2026-01-01T00:00:09Z", revision: "def" }), aSync()]);
    expect(syncsOf({ metadata, operation: { sync: { revision: "ghi" } } } as never)).toEqual([]);
  });
});

describe("a second sync", () => {
  it.each([
    ["shown by both instances", aSync(), []],
    ["of the same revision at another time", aSync({ startedAt: "2026-01-01T00:00:07Z" }), ["2026-01-01T00:00:07Z"]],
    ["of another revision", aSync({ startedAt: "2026-01-01T00:00:07Z", revision: "def" }), []],
    ["of another directory of it", aSync({ startedAt: "2026-01-01T00:00:07Z", source: '{"path":"two"}' }), []],
    ["of another application", aSync({ startedAt: "2026-01-01T00:00:07Z", application: "other" }), []],
  ])("%s", (_what, other, second) => {
    for (const seen of [
      [aSync(), other],
      [other, aSync()],
    ])
      expect(secondSyncs(seen).map(({ startedAt }) => startedAt)).toEqual(second);
  });
});
