import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { type AnswerWait, createAnswerWait, FIRST_STATUS_MS } from "./answer-wait.ts";

/** Asks for so many keys' times at once. */
const burst = ({ waitMs }: AnswerWait, count: number): readonly number[] => Array.from({ length: count }, (_, index) => waitMs(`${index}`));

describe("the time an instance is given to answer", () => {
  it("is the shortest for requests that come one by one", async () => {
    const clock = createVirtualClock();
    const timeout = createAnswerWait(clock);
    for (let request = 0; request < 100; request += 1) {
      expect(timeout.waitMs(`${request}`)).toBe(FIRST_STATUS_MS);
      await clock.advance(100);
      timeout.answered(`${request}`);
    }
  });

  it("grows with a burst, so that its last request is given longer than all before it take", () => {
    const timeout = createAnswerWait(createVirtualClock());
    const waits = burst(timeout, 200);
    expect(waits[0]).toBe(FIRST_STATUS_MS);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBeGreaterThan(3 * FIRST_STATUS_MS);
  });

  it("ends, however many requests come", () => {
    const timeout = createAnswerWait(createVirtualClock());
    const waits = burst(timeout, 20_000);
    expect(Math.max(...waits)).toBe(8_000);
  });

  it("is what it was once the burst is over", async () => {
    const clock = createVirtualClock();
    const timeout = createAnswerWait(clock);
    burst(timeout, 10_000);
    await clock.advance(8_000);
    expect(timeout.waitMs("next")).toBe(FIRST_STATUS_MS);
  });

  it.each([
    [8, 4],
    [60, 3],
    [5_000, 1],
  ])("learns from bursts answered every %d ms how long the next one takes", async (everyMs, bursts) => {
    const clock = createVirtualClock();
    const timeout = createAnswerWait(clock);
    for (let round = 0; round < bursts; round += 1) {
      burst(timeout, 200);
      for (let answer = 0; answer < 200; answer += 1) {
        await clock.advance(everyMs);
        timeout.answered(`${answer}`);
      }
      await clock.advance(8_000);
    }
    const waits = burst(timeout, 51);
    // Twice what is expected.
    const eachMs = (Math.max(...waits) - FIRST_STATUS_MS) / 50 / 2;
    // What comes so rarely is no burst's, and nothing was learnt.
    const expected = everyMs === 5_000 ? 20 : everyMs;
    expect(eachMs).toBeGreaterThan(0.7 * expected);
    expect(eachMs).toBeLessThan(1.3 * expected);
  });

  it("is what is left of it for a request that was asked for again, which makes nobody else wait longer", async () => {
    const clock = createVirtualClock();
    const timeout = createAnswerWait(clock);
    burst(timeout, 100);
    const last = timeout.waitMs("last");
    await clock.advance(500);
    for (let again = 0; again < 100; again += 1) expect(timeout.waitMs("last")).toBe(last - 500);
    expect(timeout.waitMs("next")).toBeLessThan(last);
  });

  it("passes, or ends with the answer, and then nobody is waited for", async () => {
    const clock = createVirtualClock();
    const timeout = createAnswerWait(clock);
    expect(timeout.isAwaited("a")).toBe(false);
    timeout.waitMs("a");
    timeout.waitMs("b");
    timeout.answered("a");
    expect(["a", "b"].map(timeout.isAwaited)).toEqual([false, true]);
    await clock.advance(2 * FIRST_STATUS_MS);
    expect(timeout.isAwaited("b")).toBe(false);
    expect(timeout.waitMs("b")).toBe(FIRST_STATUS_MS);
  });

  it("is not learnt from answers for which nobody waited", async () => {
    const clock = createVirtualClock();
    const timeout = createAnswerWait(clock);
    burst(timeout, 200);
    for (let answer = 0; answer < 1_000; answer += 1) timeout.answered("of another burst");
    await clock.advance(8_000);
    expect(burst(timeout, 200).at(-1)).toBeGreaterThan(3 * FIRST_STATUS_MS);
  });

  it("is remembered of the last ten thousand requests", async () => {
    const clock = createVirtualClock();
    const timeout = createAnswerWait(clock);
    burst(timeout, 10_001);
    expect(["0", "1", "10000"].map(timeout.isAwaited)).toEqual([false, true, true]);
    await clock.advance(8_000);
    for (const key of ["1", "next"]) timeout.waitMs(key);
    expect(timeout.isAwaited("1")).toBe(true);
  });
});
