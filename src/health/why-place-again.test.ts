import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceVerdict } from "../domain/health.ts";
import type { Instance } from "../domain/instance.ts";
import { anInstance } from "../store/testing/builders.ts";
import { whyPlaceAgain } from "./why-place-again.ts";

const NOW = millis(1_700_000_000_000);
const secondsAgo = (seconds: number) => millis(NOW - seconds * 1_000);
const INSTANCE = anInstance({ name: "standard-1", state: "ACTIVE" });
const STALLED: InstanceVerdict = {
  ...{ instanceId: INSTANCE.id, at: NOW, since: secondsAgo(75), state: "stalled", cause: "controller-stopped", component: "controller" },
  ...{ text: "its controller stands still", evidence: [], baseline: undefined },
};

describe("whether units that an instance never compared are placed again", () => {
  it("says for how long the instance has done no work, and spares workspaces that are younger than a minute", () => {
    expect(whyPlaceAgain(INSTANCE, STALLED, NOW)).toEqual({
      why: "standard-1 never compared it with Git, and has been stalled for 75 s: its controller stands still",
      madeBefore: secondsAgo(60),
      notMovedSince: secondsAgo(600),
    });
    expect(whyPlaceAgain(INSTANCE, { ...STALLED, state: "failed", since: secondsAgo(60) }, NOW)?.why).toContain("failed for 60 s");
  });

  it.each<readonly [string, Partial<InstanceVerdict>, Partial<Instance>]>([
    ["an instance that has stood still for less than a minute", { since: secondsAgo(59) }, {}],
    ["one that works, slowly", { state: "degraded" }, {}],
    ["one that is overloaded", { state: "overloaded" }, {}],
    ["one whose state is unknown", { state: "unknown" }, {}],
    ["one that is healthy", { state: "healthy" }, {}],
    ["one whose repo-server is filled: who fills it may be among them", { state: "failed", cause: "disk", component: "repo-server" }, {}],
    ["also where its memory is filled", { state: "failed", cause: "memory", component: "repo-server" }, {}],
    ["one that is drained: every unit leaves it anyway", {}, { state: "DRAINING" }],
    ["one that is being changed", {}, { desiredVersion: "9.9.9" }],
  ])("leaves them on %s", (_what, verdict, instance) => {
    expect(whyPlaceAgain({ ...INSTANCE, ...instance }, { ...STALLED, ...verdict }, NOW)).toBeUndefined();
  });
});
