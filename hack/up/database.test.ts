import { describe, expect, it } from "vitest";
import { DefectError, InputError, UnavailableError } from "../../src/domain/errors.ts";
import { databaseError } from "./database.ts";

describe("what is wrong with the database of DATABASE_URL", () => {
  it("is reported in terms of DATABASE_URL, with the store's remedy", () => {
    const reported = databaseError(
      new InputError("using PostgreSQL 14", { code: "x.y", path: "database.url", remedy: "Use PostgreSQL 15" }),
    );
    expect(reported).toMatchObject({
      code: "up.database",
      path: "DATABASE_URL",
      message: "using PostgreSQL 14",
      remedy: "Use PostgreSQL 15",
    });
  });

  it.each([
    ["no way to it", new Error("connect ECONNREFUSED 127.0.0.1:1")],
    ["several ways to it", new AggregateError([new Error("connect ECONNREFUSED ::1:1"), new Error("other")])],
  ])("is reported with the reason when there is %s", (_title, cause) => {
    const reported = databaseError(new UnavailableError("connecting to the database", { code: "x.y", cause }));
    expect((reported as Error).message).toMatch(/does not answer \(connect ECONNREFUSED/);
  });

  it("is no answer when it took too long", () => {
    expect(databaseError(AbortSignal.abort(new DOMException("", "TimeoutError")).reason)).toMatchObject({
      message: "the database does not answer (no answer)",
    });
  });

  it("keeps an error that is a defect of ours", () => {
    const defect = new DefectError("migrating", { code: "x.y" });
    expect(databaseError(defect)).toBe(defect);
  });
});
