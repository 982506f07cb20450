import { describe, expect, it } from "vitest";
import { errorForAnswer, errorForStatus, longestRetryAfterMs, parseRetryAfter, readStatus } from "./status.ts";

const options = { context: { cluster: "c" }, nowMs: 1_000_000 };
const body = (fields: object) => JSON.stringify({ kind: "Status", ...fields });
const answer = (status: number, fields: object, retryAfter?: string) =>
  errorForAnswer("Testing", { status, body: body(fields), retryAfter }, options);

describe("errorForAnswer", () => {
  it.each([
    [400, {}, "RefusedError", "kube.refused"],
    [401, { reason: "Unauthorized" }, "RefusedError", "kube.refused"],
    [403, { reason: "Forbidden" }, "RefusedError", "kube.refused"],
    [403, { reason: "Forbidden", details: { causes: [{ reason: "NamespaceTerminating" }] } }, "RefusedError", "kube.namespace-ending"],
    [404, { reason: "NotFound", details: { name: "a" } }, "GoneError", "kube.not-found"],
    [404, { reason: "NotFound", details: {} }, "UnavailableError", "kube.unknown-path"],
    [405, {}, "RefusedError", "kube.refused"],
    [408, {}, "UnavailableError", "kube.unavailable"],
    [409, { reason: "Conflict" }, "StaleError", "kube.conflict"],
    [409, { reason: "AlreadyExists" }, "StaleError", "kube.exists"],
    [410, { reason: "Expired" }, "GoneError", "kube.expired"],
    [413, {}, "RefusedError", "kube.refused"],
    [415, {}, "RefusedError", "kube.refused"],
    [422, { reason: "Invalid" }, "RefusedError", "kube.refused"],
    [429, {}, "UnavailableError", "kube.unavailable"],
    [301, {}, "UnavailableError", "kube.unavailable"],
    [500, {}, "UnavailableError", "kube.unavailable"],
    [503, {}, "UnavailableError", "kube.unavailable"],
  ])("makes %i %o a %s", (status, fields, name, code) => {
    expect(answer(status, fields)).toMatchObject({ name, code, context: { cluster: "c", status } });
  });

  it("names reason and field and keeps the server's words as the cause", () => {
    const error = answer(422, { reason: "Invalid", message: "too long", details: { causes: [{ field: "spec.name" }] } });
    expect(error).toMatchObject({ message: "Testing", context: { reason: "Invalid", field: "spec.name" }, cause: { message: "too long" } });
  });

  it("keeps the text of what is no Status, shortened", () => {
    const error = errorForAnswer("Testing", { status: 502, body: "x".repeat(5_000), retryAfter: undefined }, options);
    expect((error.cause as Error).message).toHaveLength(1_000);
  });

  it("takes Retry-After from the header before the body", () => {
    expect(answer(429, { details: { retryAfterSeconds: 9 } }, "3")).toMatchObject({ retryAfterMs: 3_000 });
    expect(answer(429, { details: { retryAfterSeconds: 9 } })).toMatchObject({ retryAfterMs: 9_000 });
    expect(answer(429, {})).toMatchObject({ retryAfterMs: undefined });
  });
});

describe("errorForStatus", () => {
  it("takes a status without a code for a failure of the server", () => {
    expect(errorForStatus("Testing", {}, {})).toMatchObject({ name: "UnavailableError", context: { status: 500 } });
  });
});

describe("readStatus", () => {
  it("believes nothing about types", () => {
    expect(
      readStatus({
        kind: "Status",
        code: "410",
        reason: 5,
        message: null,
        details: { causes: [null], name: {}, retryAfterSeconds: Number.NaN },
      }),
    ).toEqual({});
    expect(readStatus({ kind: "Status", details: null })).toEqual({});
    expect(readStatus({ kind: "Pod" })).toBeUndefined();
    expect(readStatus(null)).toBeUndefined();
  });
});

describe("parseRetryAfter", () => {
  it("lets nobody send us away for hours, be it by a clock that differs from ours", () => {
    expect(parseRetryAfter("Thu, 01 Jan 1970 01:00:10 GMT", 10_000)).toBe(longestRetryAfterMs);
    expect(parseRetryAfter("999999", 0)).toBe(longestRetryAfterMs);
    expect(answer(429, { details: { retryAfterSeconds: 1e9 } })).toMatchObject({ retryAfterMs: longestRetryAfterMs });
    expect(answer(429, { details: { retryAfterSeconds: -5 } })).toMatchObject({ retryAfterMs: 0 });
  });

  it("reads seconds and dates, and nothing else", () => {
    expect(parseRetryAfter("2", 0)).toBe(2_000);
    expect(parseRetryAfter("Thu, 01 Jan 1970 00:00:10 GMT", 4_000)).toBe(6_000);
    expect(parseRetryAfter("Thu, 01 Jan 1970 00:00:10 GMT", 40_000)).toBe(0);
    expect(parseRetryAfter("soon", 0)).toBeUndefined();
    expect(parseRetryAfter(undefined, 0)).toBeUndefined();
  });
});
