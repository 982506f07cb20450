import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createAnswerWait, FIRST_STATUS_MS } from "./answer-wait.ts";

describe("patience with an instance", () => {
  it("is the shortest for wishes that come one by one", async () => {
    const clock = createVirtualClock();
    const timeout = createAnswerWait(clock);
    for (let request = 0; request < 100; request += 1) {
      expect(timeout.waitMs()).toBe(FIRST_STATUS_MS);
      await clock.advance(100);
      timeout.answered();
    }
  });

  it("grows with a burst, so that its last wish is given longer than all before it take", () => {
    const timeout = createAnswerWait(createVirtualClock());
    const waits = Array.from({ length: 200 }, timeout.waitMs);
    expect(waits[0]).toBe(FIRST_STATUS_MS);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBeGreaterThan(3 * FIRST_STATUS_MS);
  });

  it("ends, however many wishes come", () => {
    const timeout = createAnswerWait(createVirtualClock());
    const waits = Array.from({ length: 10_000 }, timeout.waitMs);
    expect(Math.max(...waits)).toBe(8_000);
  });

  it("is what it was once the burst is over", async () => {
    const clock = createVirtualClock();
    const timeout = createAnswerWait(clock);
    Array.from({ length: 10_000 }, timeout.waitMs);
    await clock.advance(8_000);
    expect(timeout.waitMs()).toBe(FIRST_STATUS_MS);
  });

  it.each([
    [8, 4],
    [60, 3],
    [5_000, 1],
  ])("learns from bursts answered every %d ms how long the next one takes", async (everyMs, bursts) => {
    const clock = createVirtualClock();
    const timeout = createAnswerWait(clock);
    for (let burst = 0; burst < bursts; burst += 1) {
      Array.from({ length: 200 }, timeout.waitMs);
      for (let answer = 0; answer < 200; answer += 1) {
        await clock.advance(everyMs);
        timeout.answered();
      }
      await clock.advance(8_000);
    }
    const waits = Array.from({ length: 51 }, timeout.waitMs);
    // Twice what is expected.
    const eachMs = (Math.max(...waits) - FIRST_STATUS_MS) / 50 / 2;
    // What comes so rarely is no burst's, and nothing was learnt.
    const expected = everyMs === 5_000 ? 20 : everyMs;
    expect(eachMs).toBeGreaterThan(0.7 * expected);
    expect(eachMs).toBeLessThan(1.3 * expected);
  });
});
