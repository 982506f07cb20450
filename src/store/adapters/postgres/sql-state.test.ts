import pg from "pg";
import { describe, expect, it } from "vitest";
import { DefectError } from "../../../domain/errors.ts";
import { isCollision, isConnectionLost, translate } from "./sql-state.ts";

function refusal(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError("refused", 7, "error"), { code });
}

describe("what a failed statement means", () => {
  it.each([
    ["40001", "UnavailableError", "store.contended"],
    ["40P01", "UnavailableError", "store.contended"],
    ["08006", "UnavailableError", "store.unavailable"],
    ["53300", "UnavailableError", "store.unavailable"],
    ["57P01", "UnavailableError", "store.unavailable"],
    ["57P03", "UnavailableError", "store.unavailable"],
    ["57014", "UnavailableError", "store.unavailable"],
    ["55P03", "UnavailableError", "store.unavailable"],
    ["25006", "UnavailableError", "store.unavailable"],
    ["28P01", "UnavailableError", "store.unavailable"],
    ["3D000", "UnavailableError", "store.unavailable"],
    ["55000", "UnavailableError", "store.unavailable"],
    ["23505", "StaleError", "store.conflict"],
    ["23503", "DefectError", "store.statement"],
    ["23514", "DefectError", "store.statement"],
    ["42P01", "DefectError", "store.statement"],
    ["22P02", "DefectError", "store.statement"],
  ])("SQLSTATE %s is %s", (state, name, code) => {
    expect(translate("doing", refusal(state))).toMatchObject({
      name,
      code,
      context: { statement: "doing", sqlState: state },
      cause: { code: state },
    });
  });

  it.each([
    Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" }),
    Object.assign(new Error("read"), { code: "ECONNRESET" }),
    Object.assign(new Error("no such host"), { code: "ENOTFOUND", syscall: "getaddrinfo" }),
    Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
    Object.assign(new Error("certificate has expired"), { code: "CERT_HAS_EXPIRED" }),
    Object.assign(new Error("wrong version number"), { code: "ERR_SSL_WRONG_VERSION_NUMBER" }),
    new Error("Connection terminated unexpectedly"),
    new Error("Connection terminated due to connection timeout"),
    new Error("timeout exceeded when trying to connect"),
    new Error("Query read timeout"),
    new Error("Cannot use a pool after calling end on the pool"),
  ])("%s is the database being away", (error) => {
    expect(translate("doing", error)).toMatchObject({ name: "UnavailableError", code: "store.unavailable", cause: error });
    expect(isConnectionLost(error)).toBe(true);
  });

  it("of ours stays what it is, and keeps its connection", () => {
    for (const error of [new DefectError("x", { code: "x.y" }), new TypeError("not a function"), "text"]) {
      expect(translate("doing", error)).toBe(error);
      expect(isConnectionLost(error)).toBe(false);
    }
  });

  it("is worth trying again only after collisions", () => {
    expect(["40001", "40P01", "23505", "57P01"].filter((state) => isCollision(refusal(state)))).toEqual(["40001", "40P01"]);
    expect(isCollision(new Error("40001"))).toBe(false);
    expect(["57P01", "08006", "23505", "57014"].filter((state) => isConnectionLost(refusal(state)))).toEqual(["57P01", "08006"]);
  });
});
