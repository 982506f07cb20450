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
import { migrate, readSchemaFit } from "./migrate.ts";
import { type Migration, migration, readMigrations } from "./migration-files.ts";
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

const run = (over: Partial<Parameters<typeof migrate>[0]> = {}): ReturnType<typeof migrate> =>
  migrate({ url: database.url, log: silentLog, signal: soon(), ...over });
const done = async (): Promise<readonly string[]> => {
  const rows = await server.query<{ readonly name: string }>("select name from schema_migration order by id", database.url);
  return rows.map(({ name }) => name);
};
const recorded = () =>
  server.query<{ readonly name: string; readonly hash: string | null }>(
    "select name, hash from schema_migration order by id",
    database.url,
  );
const tables = async (): Promise<readonly string[]> => {
  const rows = await server.query<{ readonly name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname !~ '^schema_' order by 1",
    database.url,
  );
  return rows.map(({ name }) => name);
};

const MIGRATIONS = await readMigrations();
const ALL = MIGRATIONS.map(({ name }) => name);
/** A further file, so that there are two at least. */
const FURTHER = migration("9000-further", "create table further (id text)");
const TWO = [...MIGRATIONS, FURTHER];
const urlWith = (change: Partial<Pick<URL, "password" | "pathname" | "port">>): string => Object.assign(new URL(database.url), change).href;

describe("bringing the schema up to date", () => {
  it("runs every file once, however often it is asked", async () => {
    await run();
    await run();
    expect(await done()).toEqual(ALL);
  });

  it("leaves a schema alone that is there, where only an empty database is to have one", async () => {
    await run();
    await run({ migrations: TWO, onlyEmpty: true });
    expect(await done()).toEqual(ALL);
    await database.drop();
    database = await server.createEmpty();
    await run({ migrations: TWO, onlyEmpty: true });
    expect(await done()).toEqual([...ALL, FURTHER.name]);
  });

  it("records each file with the hash of its statements", async () => {
    await run({ migrations: TWO });
    expect(await recorded()).toEqual(TWO.map(({ name, hash }) => ({ name, hash })));
  });

  it("runs a file as it is written, question marks and all", async () => {
    const asked = migration("9000-asked", `create table asked (id text); comment on table asked is 'what is it? :name ??'; -- or is it?`);
    await run({ migrations: [...MIGRATIONS, asked] });
    const [row] = await server.query<{ readonly text: string }>("select obj_description('asked'::regclass) as text", database.url);
    expect(row?.text).toBe("what is it? :name ??");
  });

  it("runs every file once when many replicas start at the same moment", async () => {
    await Promise.all(Array.from({ length: 5 }, () => run()));
    expect(await done()).toEqual(ALL);
  });

  it("gives the parts of recorded documents their present names, and leaves values alone that look like the former ones", async () => {
    await run({ migrations: MIGRATIONS.slice(0, 1) });
    const said = String.raw`"said": "\"wish\": \"seats\": \"brake\":"`;
    await server.query(
      `insert into plan (id, class, goal, subject, snapshot_hash, plan_hash, actor, created_at, expires_at, moves, records, report)
       values ('p', 'c', 'drain', '', 's', 'h', 'a', now(), now(), '[]', '[{"question":{"wish":{"needs":[]}}}]',
         '{"withoutSeat":[{"question":{"wish":{}}}],"brakes":[{"brake":"FREEZE"}],${said}}')`,
      database.url,
    );
    await server.query(
      `insert into decision (id, at, subject, kind, verdict, rule, details)
       values ('d', now(), 'u', 'placement', 'CHOSEN', 'PREFERRED', '{"seats":[{"id":"i"}],"wish":{"apart":[]},${said}}'),
         ('e', now(), 'u', 'health', 'healthy', 'r', '{"seats":1}')`,
      database.url,
    );
    await run();
    const [plan] = await server.query<{ readonly records: unknown; readonly report: unknown }>(
      "select records, report from plan",
      database.url,
    );
    const details = await server.query<{ readonly details: unknown }>("select details from decision order by id", database.url);
    const left = JSON.parse(`{${said}}`) as object;
    expect(plan).toEqual({
      records: [{ question: { constraints: { needs: [] } } }],
      report: { withoutCandidate: [{ question: { constraints: {} } }], blockedBy: [{ rule: "FREEZE" }], ...left },
    });
    expect(details.map((row) => row.details)).toEqual([
      { candidates: [{ id: "i" }], constraints: { apart: [] }, ...left },
      JSON.parse(`{"seats":1}`),
    ]);
  });

  it("is completed by the next one when the first was killed in the middle of a file", async () => {
    const other = new pg.Client({ connectionString: database.url });
    other.on("error", () => {});
    await other.connect();
    await other.query("begin");
    // The file has to wait for this table, whose fate is open, after it has made others: that is where its process is killed.
    await other.query("create table workspace (id text)");
    const child = spawn(process.execPath, [fileURLToPath(new URL("../../testing/migrate-once.ts", import.meta.url)), database.url], {
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    await eventually(async () => {
      const waiting = await server.query(
        `select from pg_stat_activity where datname = '${new URL(database.url).pathname.slice(1)}' and wait_event_type = 'Lock' and application_name = 'argosy-migrate'`,
      );
      expect(waiting).toHaveLength(1);
    });
    expect(await done()).toEqual([]);
    child.kill("SIGKILL");
    await ended;
    await other.query("rollback");
    await other.end();
    await eventually(async () => expect(await tables()).toEqual([]));
    await run();
    expect(await done()).toEqual(ALL);
  });

  it("keeps the files before one that fails, takes that one back whole, and goes on when it is mended", async () => {
    const broken = migration("9000-last", "create table half (id text); select 1 / 0");
    const mended = migration("9000-last", "create table half (id text)");
    await expect(run({ migrations: [...MIGRATIONS, broken] })).rejects.toThrow();
    expect(await done()).toEqual(ALL);
    await run({ migrations: [...MIGRATIONS, mended] });
    expect(await recorded()).toEqual([...MIGRATIONS, mended].map(({ name, hash }) => ({ name, hash })));
  });

  it("does not mind a lock row that a killed process left behind", async () => {
    await run();
    await server.query("update schema_migration_lock set is_locked = 1", database.url);
    await run({ migrations: TWO });
    expect(await done()).toEqual([...ALL, FURTHER.name]);
  });

  it("ends with its signal while others hold the lock", async () => {
    const blocking = migration("0000-slow", "select pg_sleep(600)");
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

describe("a program beside a database that a newer one has migrated", () => {
  /** Added to this version's files: one that only adds, and one that needs a program which knows the former. */
  const EXPAND = migration("9001-expand", `-- needs program: ${(ALL.at(-1) ?? "").slice(0, 4)}\ncreate table more (id text)`);
  const CONTRACT = migration("9002-contract", "-- needs program: 9001, because it drops what only older ones use\ndrop table more");
  const [NEXT, LATER] = [
    [...MIGRATIONS, EXPAND],
    [...MIGRATIONS, EXPAND, CONTRACT],
  ];
  const open = (migrations?: readonly Migration[]) =>
    createPostgresStore({
      ...{ url: database.url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 },
      ...(migrations === undefined ? {} : { migrations }),
    });
  const served = async (migrations?: readonly Migration[]): Promise<string> => {
    try {
      await run(migrations === undefined ? {} : { migrations });
      const store = await open(migrations);
      await store.close();
      return "served";
    } catch (error) {
      return (error as InputError).code;
    }
  };

  it("starts again on it as long as files only add, and changes nothing", async () => {
    await run({ migrations: NEXT });
    expect(await served()).toBe("served");
    expect(await run()).toMatchObject({ applied: [], fit: { code: "fits-newer", about: EXPAND.name } });
    expect(await done()).toEqual([...ALL, EXPAND.name]);
  });

  it("is refused once a file needs one that is newer, whereas the one before that file is served", async () => {
    await run({ migrations: LATER });
    expect(await served()).toBe("store.schema-newer");
    await expect(open()).rejects.toMatchObject({ code: "store.schema-newer", context: { unknown: `${EXPAND.name}, ${CONTRACT.name}` } });
    expect(await served(NEXT)).toBe("served");
  });

  it("is served again when the program is rolled back, and when it is rolled forward after that", async () => {
    for (const [migrations, code] of [
      [MIGRATIONS, "fits"],
      [NEXT, "fits"],
      [MIGRATIONS, "fits-newer"],
      [NEXT, "fits"],
      [LATER, "fits"],
      [NEXT, "fits-newer"],
    ] as const) {
      expect((await run({ migrations })).fit.code).toBe(code);
      const store = await open(migrations);
      await store.close();
    }
    await expect(run()).rejects.toMatchObject({ code: "store.schema-newer" });
  });

  it("does not trust a newer file where one of its own is missing or was another one", async () => {
    await run({ migrations: [...MIGRATIONS, EXPAND] });
    const ours = [...MIGRATIONS, migration("9000-ours", "create table ours (id text)")];
    expect(await served(ours)).toBe("store.schema-changed");
    await server.query(`update schema_migration set hash = 'other' where name = '${ALL[0]}'`, database.url);
    expect(await served()).toBe("store.schema-changed");
    expect(await done()).toEqual([...ALL, EXPAND.name]);
  });

  it("trusts nothing that a newer file did not say", async () => {
    await run({ migrations: [...MIGRATIONS, migration("9001-silent", "create table more (id text)")] });
    expect(await served()).toBe("store.schema-newer");
    await server.query("update schema_migration set needs = null where name = '9001-silent'", database.url);
    expect(await served()).toBe("store.schema-newer");
  });
});

describe("what each file needs", () => {
  const needs = () =>
    server.query<{ readonly name: string; readonly needs: number | null }>(
      "select name, needs from schema_migration order by id",
      database.url,
    );

  it("is recorded with it, in a database of before too, which an older program goes on with", async () => {
    await run();
    const recordedNeeds = MIGRATIONS.map(({ name, needs: said }) => ({ name, needs: said }));
    expect(await needs()).toEqual(recordedNeeds);
    await server.query("alter table schema_migration drop column needs", database.url);
    expect((await readSchemaFit({ url: database.url }, soon())).code).toBe("fits");
    await Promise.all(Array.from({ length: 3 }, () => run()));
    expect(await needs()).toEqual(recordedNeeds);
    // As an older program records one: by name and hash.
    await server.query("insert into schema_migration (name, batch, migration_time, hash) values ('9000-old', 1, now(), 'h')", database.url);
    await server.query("delete from schema_migration where name = '9000-old'", database.url);
  });

  it("stays as it was recorded: whoever rolls back does not say it anew", async () => {
    await run({ migrations: TWO });
    await server.query(`update schema_migration set needs = 3 where name = '${FURTHER.name}'`, database.url);
    await run({ migrations: TWO });
    expect((await needs()).at(-1)).toEqual({ name: FURTHER.name, needs: 3 });
  });

  it("is told with the files that were run, and how long each took", async () => {
    const { applied, fit } = await run();
    expect(applied).toEqual(ALL.map((name) => ({ name, seconds: expect.any(Number) })));
    expect(fit).toMatchObject({
      code: "fits",
      pending: [],
      newest: ALL.at(-1),
      needs: Math.max(...MIGRATIONS.map(({ needs: said }) => said)),
    });
    expect((await run()).applied).toEqual([]);
  });

  it("is asked without writing anything, also of an empty database", async () => {
    expect((await readSchemaFit({ url: database.url }, soon())).code).toBe("empty");
    expect(await server.query("select from pg_class where relname = 'schema_migration'", database.url)).toEqual([]);
    await expect(readSchemaFit({ url: urlWith({ port: "1" }) }, soon())).rejects.toBeInstanceOf(UnavailableError);
  });
});

/** The steps that the first file sums up, as they have recorded themselves; all but the last are known by their number alone. */
const STEPS = [...Array.from({ length: 28 }, (_, index) => `${String(index + 1).padStart(3, "0")}-step`), "035-repositories-by-hash"];

/** The present schema, as a database records it that was made by these steps. */
async function makeBySteps(steps: readonly string[]): Promise<void> {
  await run({ migrations: MIGRATIONS.slice(0, 1) });
  const rows = steps.map((name) => `('${name}', 1, now())`).join(", ");
  await server.query(
    `alter table schema_migration drop column hash; delete from schema_migration; insert into schema_migration (name, batch, migration_time) values ${rows}`,
    database.url,
  );
}

describe("a schema that was made by the steps before the first file", () => {
  const insert = "insert into api_token (name, hash, role, created_at) values ('ops', 'h', 'viewer', now())";
  const names = () => server.query("select name from api_token", database.url);

  it("is taken for what the first file makes, with everything in it, and gets the files after that", async () => {
    await makeBySteps(STEPS);
    await server.query(insert, database.url);
    await run();
    expect(await recorded()).toEqual(MIGRATIONS.map(({ name, hash }) => ({ name, hash })));
    await run({ migrations: TWO });
    expect(await done()).toEqual([...ALL, FURTHER.name]);
    expect(await names()).toEqual([{ name: "ops" }]);
  });

  it("is taken over once when many replicas start at the same moment", async () => {
    await makeBySteps(STEPS);
    await Promise.all(Array.from({ length: 5 }, () => run({ migrations: TWO })));
    expect(await recorded()).toEqual(TWO.map(({ name, hash }) => ({ name, hash })));
  });

  it("is left alone where only an empty database is to have one", async () => {
    await makeBySteps(STEPS);
    await run({ onlyEmpty: true });
    expect(await done()).toEqual(STEPS);
  });

  it("is not taken for what another first file makes", async () => {
    await makeBySteps(STEPS);
    await expect(run({ migrations: [migration("0001-baseline", "create table other (id text)")] })).rejects.toMatchObject({
      name: "InputError",
      code: "store.schema-older",
    });
    expect(await done()).toEqual(STEPS);
  });

  it.each([
    ["only the first of them were run", STEPS.slice(0, 12)],
    ["one is missing", STEPS.filter((_, index) => index !== 5)],
    ["there is one more", [...STEPS, "036-more"]],
    ["files were run too", [...STEPS.slice(1), "0001-baseline"]],
  ])("is refused when %s, and stays as it is", async (_, steps) => {
    await makeBySteps(steps);
    await server.query(insert, database.url);
    for (const onlyEmpty of [false, true]) {
      await expect(run({ onlyEmpty })).rejects.toMatchObject({
        name: "InputError",
        code: "store.schema-older",
        remedy: expect.stringContaining("035-repositories-by-hash"),
        context: { last: steps.at(-1) },
      });
    }
    expect(await done()).toEqual(steps);
    expect(await names()).toEqual([{ name: "ops" }]);
  });
});

describe("refusing to start", () => {
  it("on a schema newer than this version", async () => {
    await run({ migrations: [...MIGRATIONS, migration("9000-future", "select 1")] });
    await expect(run()).rejects.toMatchObject({ name: "InputError", code: "store.schema-newer", context: { unknown: "9000-future" } });
  });

  it("on a schema that another file of the same name made, or nobody knows which", async () => {
    await run({ migrations: TWO });
    const other = [
      ...MIGRATIONS,
      migration(FURTHER.name, "create table further (id text, more text)"),
      migration("9001-next", "create table next (id text)"),
    ];
    const changed = { name: "InputError", code: "store.schema-changed", context: { changed: FURTHER.name } };
    await expect(run({ migrations: other })).rejects.toMatchObject(changed);
    expect(await done()).toEqual([...ALL, FURTHER.name]);
    await server.query(`update schema_migration set hash = null where name = '${FURTHER.name}'`, database.url);
    await expect(run({ migrations: TWO })).rejects.toMatchObject(changed);
  });

  it("but not because a comment in a file was improved", async () => {
    await run();
    await run({ migrations: MIGRATIONS.map(({ name, sql }) => migration(name, `-- said better\n${sql}`)) });
  });

  it("on a schema that is not there or not that of this version", async () => {
    const open = () => createPostgresStore({ url: database.url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 });
    await expect(open()).rejects.toMatchObject({ name: "InputError", code: "store.schema", context: { pending: ALL.join(", ") } });
    await run({ migrations: TWO });
    await expect(open()).rejects.toMatchObject({ name: "InputError", code: "store.schema-newer", context: { unknown: FURTHER.name } });
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
