import { describe, expect, it } from "vitest";
import { z } from "zod";
import { instanceIdOf, nextInstanceNames } from "./instance-name.ts";

describe("names of the next instances", () => {
  it("take the lowest numbers that no instance ever had", () => {
    expect(nextInstanceNames("eu", new Set(["eu-1", "eu-3", "us-2"]), 3)).toEqual(["eu-2", "eu-4", "eu-5"]);
    expect(nextInstanceNames("eu", new Set(), 0)).toEqual([]);
  });
});

describe("the id of an instance", () => {
  it("is a UUID of version 8 that follows from the name, another for each", () => {
    const ids = nextInstanceNames("eu", new Set(), 1_000).map(instanceIdOf);
    expect(new Set(ids).size).toBe(1_000);
    for (const id of ids) expect(z.uuid({ version: "v8" }).safeParse(id).success).toBe(true);
  });

  it("never changes: it is in the database and on the objects of every fleet", () => {
    expect(instanceIdOf("standard-1")).toBe("d1d85a58-b178-834c-9e1f-ec5acf1f62a9");
  });
});
