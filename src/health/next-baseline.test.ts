import { expect, it } from "vitest";
import type { Baseline } from "../domain/health.ts";
import { nextBaseline, ratioToBaseline } from "./next-baseline.ts";

const GRACE_MS = 300_000;
const calm = (reconcileS: number) => ({ reconcileS, uptimeS: 9_000, queueWaitS: 0, canaryS: 0.1 });
const after = (observations: number, reconcileS: number, from?: Baseline): Baseline | undefined => {
  let baseline = from;
  for (let index = 0; index < observations; index += 1) baseline = nextBaseline(baseline, calm(reconcileS), GRACE_MS);
  return baseline;
};

it("reaches the usual time of a comparison within a few minutes, wherever it began", () => {
  const slowStart = after(1, 2);
  expect(after(400, 0.3, slowStart)?.reconcileS).toBeCloseTo(0.3, 1);
  expect(after(400, 0.3, after(1, 0.02))?.reconcileS).toBeCloseTo(0.3, 1);
});

it("changes slowly once it is known: an hour of trouble does not become usual", () => {
  const known = after(1_000, 0.02);
  expect(after(240, 5, known)?.reconcileS).toBeLessThan(0.04);
});

it("is not learnt from a controller that has just started, while anything waits, or without a measurement", () => {
  for (const signals of [
    { ...calm(1), uptimeS: 10 },
    { ...calm(1), queueWaitS: 2 },
    { ...calm(1), canaryS: 3 },
    { ...calm(1), waitingOver10: 0.5 },
    { uptimeS: 9_000 },
  ])
    expect(nextBaseline(undefined, signals, GRACE_MS)).toBeUndefined();
});

it("is used once twenty probes have gone into it", () => {
  expect(ratioToBaseline(after(19, 0.02), calm(0.2))).toBeUndefined();
  expect(ratioToBaseline(after(20, 0.02), calm(0.2))).toBeCloseTo(10);
  expect(ratioToBaseline(after(20, 0.001), calm(0.02))).toBeCloseTo(1);
  expect(ratioToBaseline(undefined, calm(0.2))).toBeUndefined();
});
