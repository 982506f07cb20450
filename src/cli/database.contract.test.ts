import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { migrate } from "../store/adapters/postgres/migrate.ts";
import { migration, readMigrations } from "../store/adapters/postgres/migration-files.ts";
import { createOwned, LOGIN_NAMES, type OwnedDatabase } from "../store/testing/database-logins.ts";
import { startTestServer, type TestServer } from "../store/testing/test-server.ts";
import { soon } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { runCommand, type Seen } from "./testing/run-command.ts";

let server: TestServer;
let database: OwnedDatabase;
let directory: string;
beforeAll(async () => {
  server = await startTestServer();
  directory = await mkdtemp(join(tmpdir(), "argosy-database-"));
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  database = await createOwned(server);
});
afterEach(() => database.drop());

const grant = (...args: readonly string[]): Promise<Seen> => runCommand(["database", "grant", ...args], { DATABASE_URL: database.owner });
const mayRead = async (name = LOGIN_NAMES.api): Promise<boolean> => {
  const [row] = await server.query<{ readonly may: boolean }>(
    `select has_table_privilege('${name}', 'api_token', 'select') as may`,
    database.url,
  );
  return row?.may === true;
};
const trail = () => server.query("select action, outcome, details from audit_record order by seq", database.url);

describe("argosy database grant", () => {
  it("gives both logins their rights, as often as it is run, and the audit trail has it", async () => {
    expect(await mayRead()).toBe(false);
    for (let run = 0; run < 2; run += 1) expect((await grant()).code).toBe(0);
    expect(await mayRead()).toBe(true);
    expect(await mayRead(LOGIN_NAMES.controlPlane)).toBe(false);
    expect((await trail()).slice(0, 2)).toEqual([
      { action: "grantRights", outcome: "asked", details: JSON.stringify({ api: "argosy_api", controlPlane: "argosy_control_plane" }) },
      { action: "grantRights", outcome: "ok", details: "{}" },
    ]);
  });

  it("prints what it would run, for names that are typed or in the file, without any database", async () => {
    const file = join(directory, "argosy.yaml");
    await writeFile(file, "database: {grantTo: {api: rest, controlPlane: loops}}\n");
    const { out, code } = await runCommand(["database", "grant", "--print", "-c", file, "--api", "Rest-2"], {});
    expect(code).toBe(0);
    expect(out).toContain('grant select on table schema_migration to "loops";');
    expect(out).toContain('grant select, insert on table audit_record to "Rest-2";');
    expect(out).toMatch(/^begin;$/m);
    expect(out).not.toContain('"rest"');
    await server.query((await grant("--print")).out, database.owner);
    expect(await mayRead()).toBe(true);
    expect(await trail()).toEqual([]);
  });

  it.each([
    ["--api", "public"],
    ["--api", "argosy_control_plane"],
    ["--control-plane", 'x"; drop table fleet; --'],
  ])("refuses %s %s as a name before it connects", async (option, name) => {
    const { code, err } = await runCommand(["database", "grant", "--print", option, name], {});
    expect([code, err]).toEqual([2, expect.stringContaining(`${option}: is `)]);
  });

  it("says which role has to be made first, and records that it was refused", async () => {
    const { code, err } = await grant("--api", "not_there");
    expect([code, err]).toEqual([1, expect.stringContaining('create role "not_there" login')]);
    expect(await trail()).toMatchObject([{ outcome: "asked" }, { outcome: "refused" }]);
  });

  it("leaves a schema alone that a newer version has added to", async () => {
    const known = await readMigrations();
    const added = migration("9001-added", `-- needs program: ${known.at(-1)?.name.slice(0, 4)}\ncreate table added (id text)`);
    await migrate({ url: database.owner, log: silentLog, signal: soon(), migrations: [...known, added] });
    const { code, err } = await grant();
    expect([code, err]).toEqual([1, expect.stringContaining("newer version has added to (9001-added)")]);
  });
});

describe("argosy migrate", () => {
  it("gives the logins of its configuration their rights, with a file to run and without", async () => {
    const file = join(directory, "granting.yaml");
    await writeFile(file, "database: {grantTo: {}}\n");
    const run = (): Promise<Seen> => runCommand(["migrate", "-c", file], { DATABASE_URL: database.owner });
    expect((await run()).code).toBe(0);
    expect(await mayRead()).toBe(true);
    await server.query(`revoke all on api_token from ${LOGIN_NAMES.api}`, database.owner);
    expect((await runCommand(["migrate", "--check", "-c", file], { DATABASE_URL: database.owner })).code).toBe(0);
    expect(await mayRead()).toBe(false);
    expect((await run()).code).toBe(0);
    expect(await mayRead()).toBe(true);
  });
});
