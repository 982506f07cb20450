import { expect, test } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import { createDeletionTimeouts } from "./deletion-timeouts.ts";

test("a cascade may wait for half a minute from the first time it had to, each for itself, and anew once it is forgotten", () => {
  let nowMs = 1000;
  const timeouts = createDeletionTimeouts({ now: () => millis(7), monotonicMs: () => nowMs });
  const request = (id: string) => timeouts.of({ id: id as ApplicationId, deletion: "cascade", deletedAt: millis(1) });
  expect(request("a")).toEqual({ deletion: "cascade", now: 7, mayWait: true });
  nowMs += 29_999;
  expect([request("a").mayWait, request("b").mayWait]).toEqual([true, true]);
  nowMs += 1;
  expect([request("a").mayWait, request("b").mayWait]).toEqual([false, true]);
  timeouts.forget("a" as ApplicationId);
  expect(request("a").mayWait).toBe(true);
});

test("nothing else waits", () => {
  const timeouts = createDeletionTimeouts({ now: () => millis(7), monotonicMs: () => 0 });
  const application = { id: "a" as ApplicationId, deletedAt: undefined };
  expect(timeouts.of({ ...application, deletion: "cascade" })).toMatchObject({ deletion: "none", mayWait: false });
  expect(timeouts.of({ ...application, deletion: "orphan", deletedAt: millis(1) })).toMatchObject({ deletion: "orphan", mayWait: false });
});
