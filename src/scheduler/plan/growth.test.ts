import { describe, expect, it } from "vitest";
import { simulateGrowth } from "../testing/growth.ts";

describe("a workspace that grows from one application to a thousand within an hour", () => {
  it("is noticed by its present load, and its instance relieved, within minutes of being full", () => {
    const { fullAt = 0, plannedAt = Number.NaN, relievedAt = Number.NaN, moves, share, others } = simulateGrowth(true);
    expect(fullAt).toBeGreaterThan(0);
    expect(plannedAt - fullAt).toBeLessThanOrEqual(4);
    expect(relievedAt - fullAt).toBeLessThanOrEqual(10);
    expect(moves).toContain("HOT");
    expect(share).toBeLessThanOrEqual(900_000);
    expect(others).toBeLessThanOrEqual(900_000);
  });

  it("would have to wait for the planning load without that", () => {
    const { fullAt = 0, plannedAt, relievedAt } = simulateGrowth(false);
    expect((plannedAt ?? Number.POSITIVE_INFINITY) - fullAt).toBeGreaterThan(20);
    expect((relievedAt ?? Number.POSITIVE_INFINITY) - fullAt).toBeGreaterThan(20);
  });
});
