import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createPatience, FIRST_STATUS_MS } from "./patience.ts";

describe("patience with an instance", () => {
  it("is the shortest for wishes that come one by one", async () => {
    const clock = createVirtualClock();
    const patience = createPatience(clock);
    for (let wish = 0; wish < 100; wish += 1) {
      expect(patience()).toBe(FIRST_STATUS_MS);
      await clock.advance(100);
    }
  });

  it("grows with a burst, so that its last wish is given about as long as all before it take", () => {
    const patience = createPatience(createVirtualClock());
    const waits = Array.from({ length: 200 }, patience);
    expect(waits[0]).toBe(FIRST_STATUS_MS);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBeGreaterThan(3 * FIRST_STATUS_MS);
  });

  it("ends, however many wishes come", () => {
    const patience = createPatience(createVirtualClock());
    const waits = Array.from({ length: 10_000 }, patience);
    expect(Math.max(...waits)).toBe(8_000);
  });

  it("is what it was once the burst is over", async () => {
    const clock = createVirtualClock();
    const patience = createPatience(clock);
    Array.from({ length: 10_000 }, patience);
    await clock.advance(8_000);
    expect(patience()).toBe(FIRST_STATUS_MS);
  });
});
