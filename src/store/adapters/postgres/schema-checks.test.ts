import type pg from "pg";
import { describe, expect, it } from "vitest";
import { checkServer } from "./schema-checks.ts";

const serverOf = (version: string) =>
  ({ query: () => Promise.resolve({ rows: [{ server_version_num: version }] }) }) as unknown as Pick<pg.Client, "query">;

describe("the server's version", () => {
  it("is fine from 15 on", async () => {
    for (const version of ["150000", "150018", "180004"]) await expect(checkServer(serverOf(version))).resolves.toBeUndefined();
  });

  it("is refused before, with what to do", async () => {
    await expect(checkServer(serverOf("140011"))).rejects.toMatchObject({
      name: "InputError",
      code: "store.postgres-too-old",
      remedy: "Use PostgreSQL 15 or newer",
      context: { major: 14 },
    });
  });
});
