import { describe, expect, it } from "vitest";
import { DefectError, GoneError, InputError, RefusedError, StaleError, UnavailableError } from "../domain/errors.ts";
import { problemOf } from "./problem.ts";

const because = { code: "x.y", cause: new Error("password=hunter2 at /srv/secret.ts:1") };

describe("problems", () => {
  it.each([
    [new InputError("is no number", { ...because, path: "a.b", remedy: "Give a number" }), 422],
    [new GoneError("reading a thing", because), 404],
    [new StaleError("writing a thing", because), 409],
    [new UnavailableError("reading rows", because), 503],
    [new RefusedError("writing rows", because), 422],
    [new DOMException("The operation was aborted due to timeout", "TimeoutError"), 503],
    [new DefectError("adding one and one", because), 500],
    [new TypeError("x is not a function"), 500],
    [Object.assign(new Error("body is too large"), { statusCode: 413 }), 413],
  ])("translate %s to %i", (error, status) => {
    expect(problemOf(error).status).toBe(status);
  });

  it("never repeat a cause, a stack or the text of our own mistake", () => {
    for (const error of [new UnavailableError("reading rows", because), new DefectError("adding", because), new Error("hunter2")]) {
      expect(JSON.stringify(problemOf(error))).not.toMatch(/hunter2|secret\.ts/);
    }
  });

  it("name field and remedy of an input error", () => {
    expect(problemOf(new InputError("is no number", { code: "x", path: "a.b", remedy: "Give a number" })).complaints).toEqual([
      { path: "a.b", message: "is no number", remedy: "Give a number" },
    ]);
  });
});
