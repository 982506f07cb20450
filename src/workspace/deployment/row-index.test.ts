import { describe, expect, it } from "vitest";
import type { ApplicationId } from "../../domain/ids.ts";
import { createRowIndex } from "./row-index.ts";

const id = (text: string) => text as ApplicationId;
const never = () => false;

describe("the index of rows", () => {
  it("knows the uids a name had until they have departed", () => {
    const rows = createRowIndex();
    for (const uid of ["b", "a", "b"]) rows.saw("k", uid);
    expect(rows.uidsOf("k")).toEqual(["a", "b"]);
    rows.departed("k", "a");
    rows.departed("k", "a");
    expect(rows.uidsOf("k")).toEqual(["b"]);
    rows.departed("k", "b");
    expect(rows.uidsOf("k")).toEqual([]);
  });

  it("finds a row's resource after the resource has departed", () => {
    const rows = createRowIndex();
    rows.saw("k", "u");
    rows.recorded("k", { uid: "u", applicationId: id("a"), request: "1/" });
    rows.departed("k", "u");
    expect(rows.keyOf(id("a"))).toBe("k");
    expect(rows.hasRow("u")).toBe(true);
  });

  it("lets in what is being recorded and what has its row, until it departs", () => {
    const rows = createRowIndex();
    rows.saw("k", "u");
    expect(rows.isAdmitted("u")).toBe(false);
    rows.admit("u");
    expect(rows.isAdmitted("u")).toBe(true);
    rows.departed("k", "u");
    expect(rows.isAdmitted("u")).toBe(false);
    rows.recorded("k", { uid: "u", applicationId: id("a") });
    expect(rows.isAdmitted("u")).toBe(true);
  });

  it("keeps the recorded request when the row is merely seen again", () => {
    const rows = createRowIndex();
    rows.recorded("k", { uid: "u", applicationId: id("a"), request: "1/" });
    rows.recorded("k", { uid: "u", applicationId: id("a") });
    expect(rows.hasRequest("u", "1/")).toBe(true);
    expect(rows.hasRequest("u", "2/")).toBe(false);
    expect(rows.hasRequest("other", "1/")).toBe(false);
  });

  describe("with what rows were listed with", () => {
    const listed = { request: "1/", specHash: "h" };
    const list = (rows: ReturnType<typeof createRowIndex>, over = {}) =>
      rows.recorded("k", { uid: "u", applicationId: id("a"), listed: { ...listed, ...over } });

    it("knows a row by exactly that", () => {
      const rows = createRowIndex();
      expect(rows.listedWith("u", listed)).toBeUndefined();
      list(rows);
      expect(rows.listedWith("u", listed)).toBe("a");
      expect(rows.listedWith("u", { ...listed, request: "2/" })).toBeUndefined();
      expect(rows.listedWith("u", { ...listed, specHash: "other" })).toBeUndefined();
      list(rows, { specHash: undefined });
      expect(rows.listedWith("u", { ...listed, specHash: undefined })).toBeUndefined();
    });

    it("believes the newest list, and keeps it when the row is merely seen again", () => {
      const rows = createRowIndex();
      list(rows);
      list(rows, { request: "2/", specHash: "newer" });
      rows.recorded("k", { uid: "u", applicationId: id("a") });
      expect(rows.listedWith("u", { request: "2/", specHash: "newer" })).toBe("a");
      expect(rows.hasRequest("u", "2/")).toBe(true);
    });

    it("believes itself before any list", () => {
      const rows = createRowIndex();
      list(rows);
      rows.recorded("k", { uid: "u", applicationId: id("a"), request: "1/" });
      list(rows, { request: "0/" });
      expect(rows.listedWith("u", listed)).toBeUndefined();
      expect(rows.listedWith("u", { ...listed, request: "0/" })).toBeUndefined();
      expect(rows.hasRequest("u", "1/")).toBe(true);
    });

    it("forgets the specifications when others may have recorded them, until rows are listed again", () => {
      const rows = createRowIndex();
      list(rows);
      rows.forgetListed();
      expect(rows.listedWith("u", listed)).toBeUndefined();
      expect(rows.hasRequest("u", "1/")).toBe(true);
      list(rows);
      expect(rows.listedWith("u", listed)).toBe("a");
    });
  });

  it("forgets a row that two lists in a row do not have, because one may be older than the row", () => {
    const rows = createRowIndex();
    rows.recorded("k", { uid: "u", applicationId: id("a") });
    rows.keepOnly(new Map(), never);
    expect(rows.keyOf(id("a"))).toBe("k");
    rows.keepOnly(new Map([[id("a"), "u"]]), never);
    rows.keepOnly(new Map(), never);
    expect(rows.keyOf(id("a"))).toBe("k");
    rows.keepOnly(new Map(), never);
    expect(rows.keyOf(id("a"))).toBeUndefined();
    expect(rows.hasRow("u")).toBe(false);
  });

  it("forgets uids that are neither there nor have a row", () => {
    const rows = createRowIndex();
    for (const uid of ["present", "with-row", "gone"]) rows.saw("k", uid);
    rows.keepOnly(new Map([[id("a"), "with-row"]]), (_key, uid) => uid === "present");
    expect(rows.uidsOf("k")).toEqual(["present", "with-row"]);
  });
});
