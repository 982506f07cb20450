import { describe, expect, it } from "vitest";
import { DefectError, GoneError, UnavailableError } from "../../domain/errors.ts";
import { paceAfterEnd, paceAfterError } from "./reflector-pace.ts";

const turn = { failures: 3, progressed: false, random: 0, isListing: false };
const gone = new GoneError("Testing", { code: "kube.expired" });
const away = (retryAfterMs?: number) => new UnavailableError("Testing", { code: "test", context: { status: 503 }, retryAfterMs });

describe("paceAfterEnd", () => {
  it("goes on at once after a watch that lived its time", () => {
    expect(paceAfterEnd({ ...turn, livedMs: 10_000 })).toEqual({ waitMs: 0, failures: 0, mustRelist: false });
  });

  it("pauses for a moment after a watch that was cut short after events", () => {
    expect(paceAfterEnd({ ...turn, livedMs: 5, progressed: true })).toEqual({ waitMs: 50, failures: 0, mustRelist: false });
  });

  it("backs off from a server that ends watches at once and empty", () => {
    expect(paceAfterEnd({ ...turn, livedMs: 5 })).toEqual({ waitMs: 2_000, failures: 4, mustRelist: false });
  });
});

describe("paceAfterError", () => {
  it("lists again at once after a first 410 and backs off from the next", () => {
    expect(paceAfterError(gone, { ...turn, failures: 0 })).toEqual({ waitMs: 0, failures: 1, mustRelist: true });
    expect(paceAfterError(gone, { ...turn, failures: 1 })).toEqual({ waitMs: 500, failures: 2, mustRelist: true });
    expect(paceAfterError(gone, { ...turn, progressed: true })).toEqual({ waitMs: 0, failures: 1, mustRelist: true });
  });

  it("does not list again at once when it was the list that said 410", () => {
    expect(paceAfterError(gone, { ...turn, failures: 0, isListing: true })).toEqual({ waitMs: 250, failures: 1, mustRelist: true });
  });

  it("lists again after a 404 for the kind, resumes after everything else", () => {
    const unknown = new UnavailableError("Testing", { code: "kube.unknown-path", context: { status: 404 } });
    expect(paceAfterError(unknown, turn).mustRelist).toBe(true);
    for (const error of [away(), new DefectError("Testing", { code: "test" }), new TypeError("ours")])
      expect(paceAfterError(error, turn).mustRelist).toBe(false);
  });

  it("starts its back-off anew only after a watch that made progress", () => {
    expect(paceAfterError(away(), turn)).toMatchObject({ waitMs: 2_000, failures: 4 });
    expect(paceAfterError(away(), { ...turn, progressed: true })).toMatchObject({ waitMs: 250, failures: 1 });
  });

  it("never waits longer than half a minute on its own, and adds that to what the server asks for", () => {
    expect(paceAfterError(away(), { ...turn, failures: 1_000, random: 1 }).waitMs).toBe(30_000);
    expect(paceAfterError(away(20_000), { ...turn, failures: 0 }).waitMs).toBe(20_250);
  });
});
