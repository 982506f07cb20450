import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createAnswerWait, FIRST_STATUS_MS } from "./answer-wait.ts";

describe("patience with an instance", () => {
  it("is the shortest for wishes that come one by one", async () => {
    const clock = createVirtualClock();
    const patience = createAnswerWait(clock);
    for (let wish = 0; wish < 100; wish += 1) {
      expect(patience.waitMs()).toBe(FIRST_STATUS_MS);
      await clock.advance(100);
      patience.answered();
    }
  });

  it("grows with a burst, so that its last wish is given longer than all before it take", () => {
    const patience = createAnswerWait(createVirtualClock());
    const waits = Array.from({ length: 200 }, patience.waitMs);
    expect(waits[0]).toBe(FIRST_STATUS_MS);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBeGreaterThan(3 * FIRST_STATUS_MS);
  });

  it("ends, however many wishes come", () => {
    const patience = createAnswerWait(createVirtualClock());
    const waits = Array.from({ length: 10_000 }, patience.waitMs);
    expect(Math.max(...waits)).toBe(8_000);
  });

  it("is what it was once the burst is over", async () => {
    const clock = createVirtualClock();
    const patience = createAnswerWait(clock);
    Array.from({ length: 10_000 }, patience.waitMs);
    await clock.advance(8_000);
    expect(patience.waitMs()).toBe(FIRST_STATUS_MS);
  });

  it.each([
    [8, 4],
    [60, 3],
    [5_000, 1],
  ])("learns from bursts answered every %d ms how long the next one takes", async (everyMs, bursts) => {
    const clock = createVirtualClock();
    const patience = createAnswerWait(clock);
    for (let burst = 0; burst < bursts; burst += 1) {
      Array.from({ length: 200 }, patience.waitMs);
      for (let answer = 0; answer < 200; answer += 1) {
        await clock.advance(everyMs);
        patience.answered();
      }
      await clock.advance(8_000);
    }
    const waits = Array.from({ length: 51 }, patience.waitMs);
    // Twice what is expected.
    const eachMs = (Math.max(...waits) - FIRST_STATUS_MS) / 50 / 2;
    // What comes so rarely is no burst's, and nothing was learnt.
    const expected = everyMs === 5_000 ? 20 : everyMs;
    expect(eachMs).toBeGreaterThan(0.7 * expected);
    expect(eachMs).toBeLessThan(1.3 * expected);
  });
});
