import { describe, expect, it } from "vitest";
import { changesOf, migrations } from "./migrations.ts";
import { projectOf } from "./project.ts";
import { statementsOf } from "./sql-statements.ts";

const ADD = "create table a (id text primary key);";
const DROP = "drop table b;";
const problemsOf = (sql: string, name = "0012-a"): readonly string[] =>
  migrations.find(projectOf({ [`migrations/${name}.sql`]: sql })).problems;

describe("what a file says of the program it needs", () => {
  it.each([
    ["adds, and lets the release before go on", `-- needs program: 0009\n${ADD}`],
    ["takes away, and lets only itself in", `-- needs program: 0012\n${DROP}`],
    ["takes away what the release before no longer uses", `-- needs program: 0009, because 0009 no longer reads b\n${DROP}`],
    ["adds what only newer programs understand", `-- needs program: 0012, because 0009 would count a twice\n${ADD}`],
  ])("is fine where it %s", (_, sql) => {
    expect(problemsOf(sql)).toEqual([]);
  });

  it.each([
    ["is not said", ADD, /does not say which program/],
    ["is written in another way", `-- needs program 9\n${ADD}`, /is not written as/],
    ["is older than what it takes away, without a reason", `-- needs program: 0009\n${ADD}\n${DROP}`, /`drop table b` does more than add/],
    ["is itself although it only adds, without a reason", `-- needs program: 0012\n${ADD}`, /only adds, and lets no program of before in/],
  ])("is a problem where it %s", (_, sql, problem) => {
    expect(problemsOf(sql)).toEqual([expect.stringMatching(problem)]);
  });

  it("is not asked of files that were there before", () => {
    expect(problemsOf(DROP, "0007-words-in-codes")).toEqual([]);
    expect(problemsOf(DROP, "0008-first")).toHaveLength(1);
  });
});

describe("a statement that only adds", () => {
  it.each([
    ADD,
    "create table if not exists a (id text) with (fillfactor = 80)",
    'create table "A b" (id text); alter table "A b" drop column id, add check (id > 1)',
    "create table a (id text); create unique index on a (id); insert into a values ('drop table b;')",
    "create table a (id text); create table c (a text references a (id) on delete restrict)",
    "create table c (b text references b (id) on delete cascade)",
    "create index concurrently if not exists b_at on b (at) where at is not null",
    "create index on only b (at)",
    "create sequence s; create type t as enum ('x'); comment on table b is 'it''s; drop table b'",
    "alter table b add column c text",
    "alter table only b add column if not exists c text constraint c_value check (c in ('X', 'Y')), add d json",
    "alter table b add column c boolean not null default false",
    "alter table b add column c text; update b set c = case when d then 'x, y' else concat('a', ',') end where c is null",
    "-- drop table b;\n/* drop /* table */ b; */ create table a (id text)",
  ])("is %j", (sql) => {
    expect(changesOf(sql)).toEqual([]);
  });
});

describe("a statement that does more than add", () => {
  it.each([
    "drop table b",
    "drop index b_at",
    "truncate b",
    "alter table b drop column c",
    "alter table b rename to c",
    "alter table b rename column c to d",
    "alter table b alter column c type bigint",
    "alter table b alter column c set not null",
    "alter table b add column c text not null",
    "alter table b add column c text references d (id)",
    "alter table b add column c text unique",
    "alter table b add column c text, drop column d",
    "alter table b add constraint b_c check (c > 0)",
    "alter table b drop constraint b_c",
    "alter table b add unique (c)",
    "create unique index on b (c)",
    "create unique index b_c on public.b (c)",
    "create table a partition of b for values in ('x')",
    "create table a (id text) inherits (b)",
    "create table a (b text references b (id))",
    "create table a as select 1",
    "create or replace view v as select 1",
    "create function f() returns int language sql as $$ select 1; $$",
    "create trigger t before insert on b execute function f()",
    "do $x$ begin drop table b; end $x$",
    "update b set c = 1",
    "alter table b add column c text; update b set c = d, d = null",
    "insert into b values (1)",
    "delete from b",
    "with gone as (delete from b returning *) select 1",
    "grant select on b to public",
    "select 1",
  ])("is %j", (sql) => {
    expect(changesOf(sql)).toHaveLength(1);
  });
});

describe("reading statements", () => {
  it("knows where one ends, whatever stands in quotation marks and comments", () => {
    const sql = `select ';''' -- ; \n from "a;""b"; select e'\\';' ; /* ; /* ; */ ; */ do $a$ ; $b$ ; $a$; SELECT 1`;
    expect(statementsOf(sql)).toEqual([`select '' from "a;""b"`, "select ''", "do $$", "select 1"]);
  });

  it("goes on to the end where something is left open", () => {
    for (const sql of ["select 'a", 'select "a', "select $$a", "select /* a", "select e'a\\'"]) expect(statementsOf(sql)).toHaveLength(1);
  });
});
