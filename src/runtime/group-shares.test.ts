import { beforeEach, describe, expect, it } from "vitest";
import { createGroupShares, type GroupShares } from "./group-shares.ts";
import { createVirtualClock, type VirtualClock } from "./testing/virtual-clock.ts";

describe("shares of groups", () => {
  let clock: VirtualClock;
  let shares: GroupShares;
  beforeEach(() => {
    clock = createVirtualClock();
    shares = createGroupShares(clock, { alone: 4, besideOthers: 2 });
  });
  /** How often it may start until it may no more. */
  const fill = (group: string): number => {
    for (let count = 1; ; count += 1) if (!shares.started(group)) return count;
  };

  it("give a group that is alone everything that one group may have", () => {
    expect(fill("one")).toBe(4);
    expect(shares.ended("one")).toBe(true);
  });

  it("give less of it while others are served, and what is too much ends by itself", () => {
    fill("one");
    shares.started("other");
    shares.ended("other");
    expect([shares.ended("one"), shares.ended("one"), shares.ended("one")]).toEqual([false, false, true]);
    expect(shares.started("one")).toBe(false);
  });

  it("give everything again a second after the last run of another", async () => {
    shares.started("other");
    shares.ended("other");
    expect(fill("one")).toBe(2);
    await clock.advance(999);
    expect(shares.ended("one")).toBe(true);
    expect(shares.started("one")).toBe(false);
    await clock.advance(1);
    shares.ended("one");
    expect(fill("one")).toBe(3);
  });

  it("are each group's own", () => {
    shares.started("one");
    expect(fill("other")).toBe(2);
    expect(shares.started("one")).toBe(false);
    expect(shares.started("third")).toBe(true);
  });

  it("never give one more beside others than it may have alone", () => {
    shares = createGroupShares(clock, { alone: 1, besideOthers: 3 });
    shares.started("other");
    expect(fill("one")).toBe(1);
  });
});
