import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressKey, createRateLimiter } from "./rate-limit.ts";

const KEYS = 100;

describe("a limit of requests", () => {
  it("lets a burst pass and then as many as it says, and tells how long to wait", () => {
    const limiter = createRateLimiter({ perSecond: 2, burst: 4 }, KEYS);
    expect(Array.from({ length: 6 }, () => limiter.take("anna", 0))).toEqual([0, 0, 0, 0, 1_000, 1_000]);
    expect(limiter.take("otto", 0)).toBe(0);
    expect([500, 500, 999, 1_000].map((now) => limiter.take("anna", now))).toEqual([0, 1_000, 1_000, 0]);
    expect(Array.from({ length: 5 }, () => limiter.take("anna", 60_000))).toEqual([0, 0, 0, 0, 1_000]);
  });

  it("tells how long to wait without counting", () => {
    const limiter = createRateLimiter({ perSecond: 1, burst: 1 }, KEYS);
    expect([limiter.waitMs("anna", 0), limiter.waitMs("anna", 0), limiter.take("anna", 0), limiter.waitMs("anna", 0)]).toEqual([
      0, 0, 0, 1_000,
    ]);
    expect([limiter.waitMs("anna", 1_000), limiter.take("anna", 1_000), limiter.size()]).toEqual([0, 0, 1]);
  });

  it("says of a slow rate how long it really takes", () => {
    const limiter = createRateLimiter({ perSecond: 0.1, burst: 1 }, KEYS);
    expect([0, 1, 9_999, 10_000].map((now) => limiter.take("anna", now))).toEqual([0, 9_999, 1_000, 0]);
  });

  it("never lets more pass in any stretch of time than its burst and what the rate adds", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 400 }), { maxLength: 200 }), (gaps) => {
        const limiter = createRateLimiter({ perSecond: 10, burst: 5 }, KEYS);
        let now = 0;
        const passed = gaps.flatMap((gap) => {
          now += gap;
          return limiter.take("anna", now) === 0 ? [now] : [];
        });
        for (const [index, from] of passed.entries())
          for (const [length, to] of passed.slice(index).entries())
            expect(length + 1).toBeLessThanOrEqual(5 + Math.floor((to - from) / 100) + 1e-9);
      }),
    );
  });

  it("remembers no more keys than it may, and lets all the others share one bucket", () => {
    const limiter = createRateLimiter({ perSecond: 1, burst: 2 }, KEYS);
    const passed = Array.from({ length: 10_000 }, (_, index) => limiter.take(`2001:db8:${index}`, 0)).filter((wait) => wait === 0);
    expect(passed).toHaveLength(KEYS + 2);
    expect(limiter.size()).toBe(KEYS + 1);
    expect(limiter.take("2001:db8:0", 0)).toBe(0);
    expect(limiter.take("somebody else", 60_000)).toBe(0);
    expect(limiter.size()).toBe(1);
  });
});

describe("the address that strangers are counted by", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1"],
    ["2001:0db8::1", "2001:db8:0:0"],
    ["2001:db8::", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1:2:3:4%eth0", "fe80:0:0:0"],
    ["1:2:3:4:5:6:7::", "1:2:3:4"],
  ])("is for %s %s", (ip, key) => expect(addressKey(ip)).toBe(key));
});
