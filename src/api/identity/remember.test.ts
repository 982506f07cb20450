import { expect, it } from "vitest";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createLimit, createMemory } from "./remember.ts";

it("remembers so many, of which the oldest makes room, and each for its time", async () => {
  const clock = createVirtualClock();
  const memory = createMemory<number>(3, clock);
  for (let value = 1; value <= 10_000; value += 1) memory.set(`k${value}`, value, 1_000);
  expect(memory.size).toBe(3);
  expect([9_997, 9_998, 10_000].map((value) => memory.get(`k${value}`))).toEqual([undefined, 9_998, 10_000]);
  await clock.advance(1_000);
  expect(memory.get("k10000")).toBeUndefined();
});

it("lets so many pass at once, and then as many as time has passed for", async () => {
  const clock = createVirtualClock();
  const mayPass = createLimit({ perSecond: 10, atOnce: 5 }, clock);
  const passed = (): number => Array.from({ length: 10_000 }, mayPass).filter(Boolean).length;
  expect(passed()).toBe(5);
  await clock.advance(250);
  expect(passed()).toBe(2);
  await clock.advance(3_600_000);
  expect(passed()).toBe(5);
});
