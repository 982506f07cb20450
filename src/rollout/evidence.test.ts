import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { canaryLatency } from "./evidence.ts";

const READY_AT = millis(1_700_000_000_000);
/** Looks so many seconds after it was ready, and how long a canary had waited then. */
const observations = (...waits: readonly (readonly [afterS: number, canaryS: number | undefined])[]) =>
  waits.map(([afterS, canaryS]) => ({ at: millis(READY_AT + afterS * 1_000), signals: canaryS === undefined ? {} : { canaryS } }));

describe("how long canaries wait for an upgraded instance", () => {
  it.each<readonly [string, ReturnType<typeof observations>, afterS: number, latencyMs: number | undefined]>([
    ["is the quickest of three looks", observations([120, 40], [135, 31], [150, 50]), 150, 31_000],
    ["is that of the latest", observations([120, 0.1], [135, 31], [150, 50], [165, 60]), 165, 31_000],
    [
      "is not what it was while everything was compared anew",
      observations([100, 40], [110, 50], [119, 60], [120, 70], [135, 80]),
      135,
      undefined,
    ],
    ["is not known from two looks", observations([200, 40], [215, 50]), 215, undefined],
    ["is not known without canaries", observations([200, undefined], [215, undefined], [230, undefined]), 230, undefined],
    ["is not known from looks that are over", observations([200, 40], [215, 50], [230, 60]), 501, undefined],
    ["is not known from looks that are to come", observations([200, 40], [215, 50], [230, 60]), 229, undefined],
  ])("%s", (_what, samples, afterS, canaryLatencyMs) => {
    const expected = canaryLatencyMs === undefined ? {} : { canaryLatencyMs };
    expect(canaryLatency(samples, { now: millis(READY_AT + afterS * 1_000), readyAt: READY_AT })).toEqual(expected);
  });
});
