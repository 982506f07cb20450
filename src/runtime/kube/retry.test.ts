import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RefusedError, UnavailableError } from "../../domain/errors.ts";
import { maxAttempts, nextRetryMs, timeoutMs } from "./retry.ts";

const unavailable = (status?: number, retryAfterMs?: number) =>
  new UnavailableError("Testing", { code: "test", context: { status }, retryAfterMs });

describe("nextRetryMs", () => {
  it.each([429, 500, 502, 503, 504, undefined])("sends again after %s", (status) => {
    expect(nextRetryMs(unavailable(status), 0, 0)).toBe(50);
  });

  it.each([404, 408, 501, 507])("does not send again after %s", (status) => {
    expect(nextRetryMs(unavailable(status), 0, 0)).toBeUndefined();
  });

  it("does not send again what was refused or failed in our own code", () => {
    expect(nextRetryMs(new RefusedError("Testing", { code: "test" }), 0, 0)).toBeUndefined();
    expect(nextRetryMs(new TypeError("ours"), 0, 0)).toBeUndefined();
  });

  it("leaves it to the caller's queue to wait for a server that is known to be away", () => {
    expect(nextRetryMs(new UnavailableError("Testing", { code: "kube.away" }), 0, 0)).toBeUndefined();
  });

  it("adds its own back-off to what the server asked for, up to its patience", () => {
    expect(nextRetryMs(unavailable(429, timeoutMs), 0, 0)).toBe(timeoutMs + 50);
    expect(nextRetryMs(unavailable(429, timeoutMs + 1), 0, 0)).toBeUndefined();
  });

  it("stays between half a twentieth of a second and two seconds and ends after four attempts", () => {
    fc.assert(
      fc.property(fc.nat(20), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempt, random) => {
        const delayMs = nextRetryMs(unavailable(503), attempt, random);
        if (attempt + 1 >= maxAttempts) expect(delayMs).toBeUndefined();
        else expect(delayMs).toSatisfy((ms: number) => ms >= 50 && ms <= 2_000);
      }),
    );
  });
});
