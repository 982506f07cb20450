import { describe, expect, it } from "vitest";
import { BASELINE_HASH } from "../../schema-fit.ts";
import { migration, misplaced, parseNeed, readMigrations } from "./migration-files.ts";

const MIGRATIONS = await readMigrations();

describe("the files of migrations/", () => {
  it("are numbered in turn, from the baseline on", () => {
    expect(MIGRATIONS[0]?.name).toBe("0001-baseline");
    expect(misplaced(MIGRATIONS.map(({ name }) => `${name}.sql`))).toBeUndefined();
  });

  it("begin with the baseline whose schema earlier databases have: a change of it is another file", () => {
    expect(MIGRATIONS[0]?.hash).toBe(BASELINE_HASH);
  });

  it.each(MIGRATIONS)("$name neither begins nor ends a transaction: it runs in one", ({ sql }) => {
    expect(sql).not.toMatch(/^\s*(begin|start transaction|commit|rollback)\s*;/im);
  });

  it.each(MIGRATIONS)("$name has no question mark behind a backslash, which knex cannot send", ({ sql }) => {
    expect(sql).not.toContain("\\?");
  });

  it.each(MIGRATIONS)("$name has comments on lines of their own, which its hash leaves out", ({ sql }) => {
    expect(sql).not.toMatch(/^\s*[^-\s].*--/m);
  });
});

describe("the place of a file", () => {
  it.each([
    ["a number that is left out", ["0001-baseline.sql", "0003-more.sql"], "0003-more.sql"],
    ["a number that is given twice", ["0001-baseline.sql", "0002-less.sql", "0002-more.sql"], "0002-more.sql"],
    ["a name without number", ["0001-baseline.sql", "more.sql"], "more.sql"],
    ["a name of other words", ["0001-baseline.sql", "0002_More.sql"], "0002_More.sql"],
    ["no fault", ["0001-baseline.sql", "0002-more.sql"], undefined],
  ])("is checked: %s", (_, files, odd) => {
    expect(misplaced(files)).toBe(odd);
  });
});

describe("the hash of a file", () => {
  const { hash } = migration("0001-a", "create table a (\n  id text\n);\n");

  it("is that of its statements, whatever is said about them and however lines end", () => {
    const said = "-- What a is.\ncreate table a (\n\n  -- Whose it is.\n  id text  \n);";
    expect(migration("0001-a", said).hash).toBe(hash);
    expect(migration("0001-a", said.replaceAll("\n", "\r\n")).hash).toBe(hash);
  });

  it("is another one for other statements", () => {
    expect(migration("0001-a", "create table a (\n  id text not null\n);\n").hash).not.toBe(hash);
  });
});

describe("the program that a file needs", () => {
  const add = "create table a (id text);";

  it("is one that knows the file itself, where that says nothing", () => {
    expect(parseNeed("0012-a", add)).toEqual({ needs: 12, isSaid: false, because: undefined });
    expect(migration("0012-a", add).needs).toBe(12);
  });

  it("is read from a line of its own, and is no part of the hash", () => {
    const said = migration("0012-a", `-- What a is.\n-- needs program: 0009\n${add}`);
    expect([said.needs, said.hash]).toEqual([9, migration("0012-a", add).hash]);
  });

  it("may come with why that is so", () => {
    expect(parseNeed("0012-a", `-- needs program: 0012, because 0011 counts what is no longer there\n${add}`)).toEqual({
      ...{ needs: 12, isSaid: true, because: "0011 counts what is no longer there" },
    });
  });

  it.each([
    ["-- needs program: 9"],
    ["-- Needs program 0009"],
    ["-- needs program: 0009 and more"],
    ["-- needs program: 0000"],
    ["-- needs program: 0013"],
    ["-- needs program: 0009\n-- needs program: 0010"],
    ["-- needs program:"],
    ["--needs program: 0009"],
  ])("is refused where it is said in another way: %j", (line) => {
    expect(parseNeed("0012-a", `${line}\n${add}`)).toHaveProperty("wrong");
    expect(() => migration("0012-a", `${line}\n${add}`)).toThrow("0012-a.sql");
  });
});
