import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { canaryLatency } from "./evidence.ts";

const READY_AT = millis(1_700_000_000_000);
/** Samples taken `afterS` seconds after the instance was ready, and how long a canary had waited by then. */
const samplesOf = (...waits: readonly (readonly [afterS: number, canaryS: number | undefined])[]) =>
  waits.map(([afterS, canaryS]) => ({ at: millis(READY_AT + afterS * 1_000), signals: canaryS === undefined ? {} : { canaryS } }));

describe("how long canaries wait for an upgraded instance", () => {
  it.each<readonly [string, ReturnType<typeof samplesOf>, afterS: number, latencyMs: number | undefined]>([
    ["is the quickest of three samples", samplesOf([120, 40], [135, 31], [150, 50]), 150, 31_000],
    ["is that of the latest three", samplesOf([120, 0.1], [135, 31], [150, 50], [165, 60]), 165, 31_000],
    [
      "leaves out the time in which everything was compared again",
      samplesOf([100, 40], [110, 50], [119, 60], [120, 70], [135, 80]),
      135,
      undefined,
    ],
    ["is not known from two samples", samplesOf([200, 40], [215, 50]), 215, undefined],
    ["is not known without canaries", samplesOf([200, undefined], [215, undefined], [230, undefined]), 230, undefined],
    ["is not known from old samples", samplesOf([200, 40], [215, 50], [230, 60]), 501, undefined],
    ["is not known from samples of the future", samplesOf([200, 40], [215, 50], [230, 60]), 229, undefined],
  ])("%s", (_what, samples, afterS, canaryLatencyMs) => {
    const expected = canaryLatencyMs === undefined ? {} : { canaryLatencyMs };
    expect(canaryLatency(samples, { now: millis(READY_AT + afterS * 1_000), readyAt: READY_AT })).toEqual(expected);
  });
});
