import { describe, expect, it } from "vitest";
import { millis, rfc3339 } from "./clock.ts";
import { GoneError, InputError, UnavailableError } from "./errors.ts";
import { classOf, readClass } from "./fleet.ts";
import { addLoad, asLoadVector, fromDocumentLoad, toDocumentLoad, ZERO_LOAD } from "./load.ts";

describe("domain", () => {
  it("writes times as Kubernetes does: UTC, whole seconds", () => {
    expect(rfc3339(millis(1_700_000_000_999))).toBe("2023-11-14T22:13:20Z");
  });

  it("names the class of a pool by region, tier and trust", () => {
    expect(classOf({ class: { region: "eu", tier: "shared", trust: "public" } })).toBe("eu/shared/public");
    expect(classOf({ class: { region: "eu", tier: "shared", trust: "public", channel: "rapid" } })).toBe("eu/shared/public/rapid");
  });

  it.each(["eu/shared/public", "eu/shared/public/rapid"])("reads the class %s back", (key) => {
    expect(classOf({ class: readClass(key) })).toBe(key);
  });

  it("reads nothing into a key that is no class", () => {
    expect(readClass("bench")).toEqual({ region: "bench", tier: "", trust: "" });
  });

  it("adds loads dimension by dimension", () => {
    const one = asLoadVector({ applications: 1000, clusterEntries: 1, cachedResources: 2, milliCpu: 3, gitPerMinute: 4 });
    expect(addLoad(one, ZERO_LOAD)).toEqual(one);
    expect(addLoad(one, one)).toEqual({ applications: 2000, clusterEntries: 2, cachedResources: 4, milliCpu: 6, gitPerMinute: 8 });
  });

  it("writes a load down in whole applications and Git requests, and reads it back", () => {
    const load = asLoadVector({ applications: 2500, clusterEntries: 1, cachedResources: 2, milliCpu: 3, gitPerMinute: 500 });
    const written = toDocumentLoad(load);
    expect(written).toEqual({ applications: 2.5, clusterEntries: 1, cachedResources: 2, milliCpu: 3, gitPerMinute: 0.5 });
    expect(fromDocumentLoad(written)).toEqual(load);
    // @ts-expect-error: amounts in different units are not added
    addLoad(load, written);
    // @ts-expect-error: nor written down twice
    toDocumentLoad(written);
  });

  it("keeps code, context and cause of an error apart from its message", () => {
    const cause = new Error("connection reset");
    const error = new UnavailableError("reading rows", { code: "store.down", context: { attempt: 2 }, cause, retryAfterMs: 500 });
    expect(error).toMatchObject({
      name: "UnavailableError",
      message: "reading rows",
      code: "store.down",
      context: { attempt: 2 },
      retryAfterMs: 500,
    });
    expect(error.cause).toBe(cause);
    expect(new GoneError("reading a row", { code: "x" })).toMatchObject({ code: "x", context: {} });
    expect(new InputError("is no number", { code: "x", path: "a.b", remedy: "Give one" })).toMatchObject({
      path: "a.b",
      remedy: "Give one",
    });
  });
});
