import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { InputError, UnavailableError } from "../../../domain/errors.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../../testing/test-server.ts";
import { eventually, soon } from "../../testing/world.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS, type Migration } from "./migrations/source.ts";
import { createPostgresStore } from "./postgres-store.ts";

let server: TestServer;
let database: TestDatabase;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  database = await server.createEmpty();
});
afterEach(() => database.drop());

const run = (over: Partial<Parameters<typeof migrate>[0]> = {}): Promise<void> =>
  migrate({ url: database.url, log: silentLog, signal: soon(), ...over });
const done = async (): Promise<readonly string[]> => {
  const rows = await server.query<{ readonly name: string }>("select name from schema_migration order by id", database.url);
  return rows.map(({ name }) => name);
};
const ALL = MIGRATIONS.map(({ name }) => name);
const urlWith = (change: Partial<Pick<URL, "password" | "pathname" | "port">>): string => Object.assign(new URL(database.url), change).href;

describe("bringing the schema up to date", () => {
  it("runs every step once, however often it is asked", async () => {
    await run();
    await run();
    expect(await done()).toEqual(ALL);
  });

  it("leaves a schema alone that is there, where only an empty database is to have one", async () => {
    await run({ migrations: MIGRATIONS.slice(0, 2) });
    await run({ onlyEmpty: true });
    expect(await done()).toEqual(ALL.slice(0, 2));
    await database.drop();
    database = await server.createEmpty();
    await run({ onlyEmpty: true });
    expect(await done()).toEqual(ALL);
  });

  it("runs every step once when many replicas start at the same moment", async () => {
    await Promise.all(Array.from({ length: 5 }, () => run()));
    expect(await done()).toEqual(ALL);
  });

  it("is completed by the next one when the first was killed in the middle of a step", async () => {
    const other = new pg.Client({ connectionString: database.url });
    other.on("error", () => {});
    await other.connect();
    await other.query("begin");
    // The second step has to wait for this table, whose fate is open: that is where its process is killed.
    await other.query("create table workspace (id text)");
    const child = spawn(process.execPath, [fileURLToPath(new URL("../../testing/migrate-once.ts", import.meta.url)), database.url], {
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    await eventually(async () => {
      const waiting = await server.query(
        `select from pg_stat_activity where datname = '${new URL(database.url).pathname.slice(1)}' and wait_event_type = 'Lock' and query like '%create table workspace%'`,
      );
      expect(waiting).toHaveLength(1);
    });
    expect(await done()).toEqual(ALL.slice(0, 1));
    child.kill("SIGKILL");
    await ended;
    await other.query("rollback");
    await other.end();
    await run();
    expect(await done()).toEqual(ALL);
  });

  it("keeps the steps before one that fails, takes that one back whole, and goes on when it is mended", async () => {
    const broken: Migration = { name: "999-last", up: (knex) => knex.raw("create table half (id text); select 1 / 0") };
    const mended: Migration = { name: "999-last", up: (knex) => knex.raw("create table half (id text)") };
    await expect(run({ migrations: [...MIGRATIONS, broken] })).rejects.toThrow();
    expect(await done()).toEqual(ALL);
    await run({ migrations: [...MIGRATIONS, mended] });
    expect(await done()).toEqual([...ALL, "999-last"]);
  });

  it("does not mind a lock row that a killed process left behind", async () => {
    await run({ migrations: MIGRATIONS.slice(0, 1) });
    await server.query("update schema_migration_lock set is_locked = 1", database.url);
    await run();
    expect(await done()).toEqual(ALL);
  });

  it("ends with its signal while others hold the lock", async () => {
    const blocking: Migration = { name: "000-slow", up: (knex) => knex.raw("select pg_sleep(600)") };
    const abort = new AbortController();
    const slow = run({ migrations: [blocking], signal: abort.signal });
    slow.catch(() => {});
    await eventually(async () =>
      expect(
        await server.query(
          "select from pg_stat_activity where query like '%pg_sleep(600)%' and state = 'active' and pid <> pg_backend_pid()",
        ),
      ).toHaveLength(1),
    );
    const reason = new Error("stop");
    const waiting = new AbortController();
    const second = run({ signal: waiting.signal });
    waiting.abort(reason);
    await expect(second).rejects.toBe(reason);
    abort.abort(reason);
    await expect(slow).rejects.toBe(reason);
  });
});

describe("refusing to start", () => {
  it("on a schema newer than this version", async () => {
    await run({ migrations: [...MIGRATIONS, { name: "999-future", up: (knex) => knex.raw("select 1") }] });
    await expect(run()).rejects.toMatchObject({ name: "InputError", code: "store.schema-newer", context: { unknown: "999-future" } });
  });

  it("on a schema that is not there or not complete", async () => {
    const open = () => createPostgresStore({ url: database.url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 });
    await expect(open()).rejects.toMatchObject({ name: "InputError", code: "store.schema", context: { schema: 0 } });
    await run({ migrations: MIGRATIONS.slice(0, 1) });
    await expect(open()).rejects.toMatchObject({ name: "InputError", code: "store.schema", context: { schema: 1 } });
  });

  it("with an address that is none, a wrong password or no such database, and names the field", async () => {
    for (const url of ["mysql://x", "nonsense"])
      await expect(run({ url })).rejects.toMatchObject({ name: "InputError", code: "store.url", path: "database.url" });
    for (const url of [urlWith({ password: "wrong" }), urlWith({ pathname: "/nowhere" })]) {
      const error: unknown = await run({ url }).catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(InputError);
      expect(error).toMatchObject({ code: "store.refused", path: "database.url" });
      expect(String(error)).not.toContain("wrong");
    }
  });

  it("while nobody answers at the address", async () => {
    await expect(run({ url: urlWith({ port: "1" }) })).rejects.toBeInstanceOf(UnavailableError);
  });

  it("for a user who may create nothing", async () => {
    await server.query("create role guest login password 'guest'");
    const url = Object.assign(new URL(database.url), { username: "guest", password: "guest" }).href;
    await expect(run({ url })).rejects.toMatchObject({ name: "InputError", code: "store.no-right" });
  });
});
