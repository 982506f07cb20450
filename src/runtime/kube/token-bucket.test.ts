import { expect, it } from "vitest";
import { createVirtualClock, settle } from "../testing/virtual-clock.ts";
import { createTokenBucket } from "./token-bucket.ts";

const never = new AbortController().signal;

it("lets a second's worth pass at once and the rest at the rate, in order", async () => {
  const clock = createVirtualClock();
  const bucket = createTokenBucket(4, clock);
  const passed: number[] = [];
  for (let i = 0; i < 8; i++) void bucket.take(never).then(() => passed.push(i));
  await settle();
  expect(passed).toEqual([0, 1, 2, 3]);
  await clock.advance(250);
  expect(passed).toEqual([0, 1, 2, 3, 4]);
  await clock.advance(750);
  expect(passed).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

it("fills up again while nobody takes, to one second's worth", async () => {
  const clock = createVirtualClock();
  const bucket = createTokenBucket(2, clock);
  await bucket.take(never);
  await clock.advance(60_000);
  let passed = 0;
  for (let i = 0; i < 5; i++) void bucket.take(never).then(() => passed++);
  await settle();
  expect(passed).toBe(2);
});

it("works for rates below one per second", async () => {
  const clock = createVirtualClock();
  const bucket = createTokenBucket(0.5, clock);
  await bucket.take(never);
  let passed = false;
  void bucket.take(never).then(() => (passed = true));
  await clock.advance(1_999);
  expect(passed).toBe(false);
  await clock.advance(1);
  expect(passed).toBe(true);
});

it("stops waiting when aborted", async () => {
  const bucket = createTokenBucket(1, createVirtualClock());
  await bucket.take(never);
  const stop = new AbortController();
  const turn = bucket.take(stop.signal);
  stop.abort("stop");
  await expect(turn).rejects.toBe("stop");
});
