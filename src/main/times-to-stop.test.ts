import { expect, it } from "vitest";
import { timesToStop } from "./times-to-stop.ts";

it.each([
  ["closes at once without a delay, and leaves three seconds for the rest", { delayMs: 0, graceMs: 25_000 }, 0, [0, 22_000]],
  ["takes requests for the delay, counted from when it was asked to stop", { delayMs: 5_000, graceMs: 25_000 }, 1_000, [4_000, 21_000]],
  ["closes at once when stopping the roles took longer than the delay", { delayMs: 5_000, graceMs: 25_000 }, 9_000, [0, 13_000]],
  ["gives requests half of a short grace", { delayMs: 0, graceMs: 2_000 }, 0, [0, 1_000]],
  ["never gives less than nothing", { delayMs: 0, graceMs: 25_000 }, 24_000, [0, 0]],
])("%s", (_, times, goneMs, [closeInMs, cutInMs]) => {
  expect(timesToStop(times, goneMs)).toEqual({ closeInMs, cutInMs });
});
