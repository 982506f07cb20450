import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRenewalDue, isRenewalOverdue, parseIssuedToken, renewalOf } from "./account-token.ts";
import { millis, rfc3339 } from "./clock.ts";

const HOUR = 3_600_000;
const LIFE = { lifeMs: 12 * HOUR, renewAfterMs: 8 * HOUR };
const madeAt = millis(Date.UTC(2026, 0, 1));
const span = (lifeMs: number) => ({ madeAt, endsAt: millis(madeAt + lifeMs) });

describe("when a token is replaced", () => {
  test("is between three quarters of the configured time and all of it, and at two thirds of its life at the latest", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.integer({ min: 1_000, max: 7 * 24 * HOUR }),
        fc.integer({ min: 1_000, max: 100 * HOUR }),
        (account, lifeMs, renewAfterMs) => {
          const afterMs = renewalOf(span(lifeMs), account, { renewAfterMs }) - madeAt;
          const latestMs = Math.min(renewAfterMs, (lifeMs * 2) / 3);
          expect(afterMs).toBeLessThanOrEqual(latestMs + 1);
          expect(afterMs).toBeGreaterThanOrEqual(latestMs * 0.75 - 1);
        },
      ),
    );
  });

  test("differs between accounts whose tokens were made together", () => {
    const moments = Array.from({ length: 100 }, (_, index) => renewalOf(span(LIFE.lifeMs), `read-${index}`, LIFE));
    expect(new Set(moments).size).toBe(100);
    expect(Math.max(...moments) - Math.min(...moments)).toBeGreaterThan(1.8 * HOUR);
  });

  test("is the same for every process", () => {
    expect(renewalOf(span(LIFE.lifeMs), "read-1", LIFE)).toBe(renewalOf(span(LIFE.lifeMs), "read-1", LIFE));
  });

  test("is now if it was made in what is the future here", () => {
    const at = (now: number) => isRenewalDue(span(LIFE.lifeMs), "read-1", { now: millis(now), life: LIFE });
    expect([at(madeAt - HOUR), at(madeAt - 1_000), at(madeAt), at(madeAt + 9 * HOUR)]).toEqual([true, false, false, true]);
  });

  test("is overdue well before its end", () => {
    expect([9.9, 10.1].map((hours) => isRenewalOverdue(span(LIFE.lifeMs), millis(madeAt + hours * HOUR)))).toEqual([false, true]);
  });
});

describe("what an API server answers to a request for a token", () => {
  const answer = (token: unknown, lifeMs: number, serverNow = madeAt) => ({
    metadata: { creationTimestamp: rfc3339(serverNow) },
    status: { token, expirationTimestamp: rfc3339(millis(serverNow + lifeMs)) },
  });

  test("is believed in how long the token lives", () => {
    expect(parseIssuedToken(answer("t", HOUR), madeAt)).toEqual({ token: "t", madeAt, endsAt: madeAt + HOUR });
  });

  test("is counted from when it was asked for, for the server's clock may be another", () => {
    expect(parseIssuedToken(answer("t", HOUR, millis(madeAt - 5 * HOUR)), madeAt)?.endsAt).toBe(madeAt + HOUR);
  });

  test.each([
    ["nothing", undefined],
    ["no object", []],
    ["no token", answer(undefined, HOUR)],
    ["a token that breaks a header", answer("a\r\nb: c", HOUR)],
    ["an endless text", answer("t".repeat(20_000), HOUR)],
    ["a token without an end", { status: { token: "t" } }],
    ["a token that has ended", answer("t", 0)],
  ])("is none where it has %s", (_, raw) => {
    expect(parseIssuedToken(raw, madeAt)).toBeUndefined();
  });
});
