import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { migrate } from "../store/adapters/postgres/migrate.ts";
import { migration, readMigrations } from "../store/adapters/postgres/migration-files.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../store/testing/test-server.ts";
import { soon } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { runCommand, type Seen } from "./testing/run-command.ts";

const MIGRATIONS = await readMigrations();
const ALL = MIGRATIONS.map(({ name }) => name);
const LAST = ALL.at(-1) ?? "";
/** A file that only adds needs an older program than itself. */
const NEEDED = String(Math.max(...MIGRATIONS.map(({ needs }) => needs))).padStart(4, "0");

let server: TestServer;
let database: TestDatabase;
let directory: string;
beforeAll(async () => {
  server = await startTestServer();
  directory = await mkdtemp(join(tmpdir(), "argosy-migrate-"));
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  database = await server.createEmpty();
});

const argosy = (...args: readonly string[]): Promise<Seen> => runCommand(["migrate", ...args], { DATABASE_URL: database.url });
const report = async (...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> =>
  JSON.parse((await argosy("-o", "json", ...args)).out) as Readonly<Record<string, unknown>>;
const tables = () => server.query("select from pg_class where relnamespace = 'public'::regnamespace", database.url);

describe("argosy migrate", () => {
  it("brings an empty database to this version's schema, says what it ran, and has nothing to do after that", async () => {
    const { out, err, code } = await argosy();
    expect(code).toBe(0);
    for (const name of ALL) expect(out).toMatch(new RegExp(`^ran {7}${name} \\([\\d.]+ s\\)$`, "m"));
    expect(out.split("\n").at(-1)).toBe(`${ALL.length} files were run; the database's schema is at ${LAST}, as this version needs it`);
    expect(err).toContain(`${LAST} was run in`);
    expect(await report()).toEqual({
      ...{ fits: true, code: "fits", sentence: expect.stringContaining(LAST), remedy: "", pending: [], applied: [] },
      program: { version: "0.9.0", newest: LAST },
      database: { newest: LAST, needs: NEEDED },
    });
  });

  it("runs each file once when several begin at once", async () => {
    const reports = await Promise.all(Array.from({ length: 4 }, () => report()));
    expect(reports.flatMap(({ applied }) => applied as readonly { readonly name: string }[]).map(({ name }) => name)).toEqual(ALL);
  });

  it("is finished by the next one when it is killed half-way", async () => {
    const killed = spawn(process.execPath, ["src/cli/argosy.ts", "migrate"], {
      env: { ...process.env, DATABASE_URL: database.url },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const ended = new Promise((resolve) => killed.once("exit", resolve));
    // Some file may be done by then, all, or none: each is whole.
    await new Promise((resolve) => killed.stderr.once("data", resolve));
    killed.kill("SIGKILL");
    await ended;
    expect((await argosy()).code).toBe(0);
    expect(await report("--check")).toMatchObject({ fits: true, code: "fits" });
  });

  it("reads the address from a configuration whose keys are not here, and says what is wrong with one that names none", async () => {
    const file = join(directory, "argosy.yaml");
    await writeFile(file, `database: {url: "${database.url}"}\nencryption: {keys: [{id: a, env: NOT_HERE}]}\n`);
    expect((await runCommand(["migrate", "--check", "-c", file], {})).out).toContain("has no schema");
    await writeFile(file, "database: {url: nonsense, migrat: x}\n");
    const { code, err } = await runCommand(["migrate", "-c", file], {});
    expect([code, err]).toEqual([1, expect.stringContaining("database.url: is not a postgres:// URL")]);
    expect(err).toContain("Did you mean database.migrate?");
    await writeFile(file, "roles: all\n");
    expect(await runCommand(["migrate", "-c", file], {})).toMatchObject({ code: 2, err: expect.stringContaining("DATABASE_URL") });
  });

  it.each([
    ["an address that is none", "mysql://x", "database.url: reading the database's address. Give postgres://user:password@host:port/name."],
    ["nobody at the address", "postgres://u:p@127.0.0.1:1/x", "connecting to the database (connect ECONNREFUSED 127.0.0.1:1)"],
  ])("says in one sentence what is the matter: %s", async (_, url, sentence) => {
    expect(await runCommand(["migrate", "--database", url], {})).toEqual({ code: 1, out: "", err: sentence });
  });

  it("says it on one line where no terminal shows it, as in the status of a pod", async () => {
    const asked = promisify(execFile)(process.execPath, ["src/cli/argosy.ts", "migrate", "--database", "mysql://x"]);
    await expect(asked).rejects.toMatchObject({
      ...{ code: 1, stderr: "argosy: database.url: reading the database's address. Give postgres://user:password@host:port/name.\n" },
    });
  });

  it("ends with a user that is refused, and shows no password", async () => {
    const url = Object.assign(new URL(database.url), { password: "geheim" }).href;
    const { code, err } = await runCommand(["migrate", "--database", url], {});
    expect([code, err]).toEqual([1, expect.stringContaining("it refuses this user, password or database name. Correct DATABASE_URL")]);
    expect(err).not.toContain("geheim");
  });

  it("refuses a time that is none", async () => {
    expect((await argosy("--wait", "soon")).code).toBe(2);
  });
});

describe("argosy migrate --check", () => {
  it("says that there is no schema, and writes nothing", async () => {
    const { out, err, code } = await argosy("--check");
    expect([code, out.split("\n").at(-1)]).toEqual([1, "using a database that has no schema yet"]);
    expect(err).toContain("argosy migrate");
    expect(await tables()).toEqual([]);
  });

  it("says what is still to be run", async () => {
    await migrate({ url: database.url, log: silentLog, signal: soon(), migrations: MIGRATIONS.slice(0, -1) });
    const { out, code } = await argosy("--check");
    expect([code, out]).toEqual([1, expect.stringContaining(`not run   ${LAST}`)]);
    expect(await report("--check")).toMatchObject({ fits: false, code: "older", pending: [LAST] });
  });

  it("fits beside a newer database that was only added to, and not beside one that needs a newer program", async () => {
    const added = migration("9001-added", `-- needs program: ${LAST.slice(0, 4)}\ncreate table added (id text)`);
    await migrate({ url: database.url, log: silentLog, signal: soon(), migrations: [...MIGRATIONS, added] });
    expect((await argosy("--check")).code).toBe(0);
    expect(await report("--check")).toMatchObject({ code: "fits-newer", database: { newest: "9001-added", needs: LAST.slice(0, 4) } });
    const taken = migration("9002-taken", "drop table added");
    await migrate({ url: database.url, log: silentLog, signal: soon(), migrations: [...MIGRATIONS, added, taken] });
    const { code, out } = await argosy("--check");
    expect([code, out]).toEqual([1, expect.stringContaining("has to know migration 9002")]);
    const refused = await argosy();
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("Start the version that made the schema, or a newer one.")]);
  });
});

describe("argosy migrate --wait", () => {
  it("goes on when the database comes up, and says once what it waits for", async () => {
    const { hostname, port } = new URL(database.url);
    const reserved = createServer();
    await new Promise<void>((resolve) => reserved.listen(0, "127.0.0.1", resolve));
    const address = reserved.address();
    const free = typeof address === "object" && address !== null ? address.port : 0;
    await new Promise((resolve) => reserved.close(resolve));
    const url = Object.assign(new URL(database.url), { hostname: "127.0.0.1", port: String(free) }).href;
    const running = runCommand(["migrate", "--wait", "5m", "--database", url], {});
    const sockets = new Set<Socket>();
    const proxy = createServer((inner) => {
      const outer = connect(Number(port), hostname);
      for (const socket of [inner, outer]) sockets.add(socket.on("error", () => {}));
      inner.pipe(outer).pipe(inner);
    });
    await new Promise<void>((resolve) => proxy.listen(free, "127.0.0.1", resolve));
    try {
      const { code, err } = await running;
      expect(code).toBe(0);
      expect(err.split("waiting for the database").length - 1).toBeLessThanOrEqual(1);
    } finally {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    }
  });

  it("waits for a database that is not made yet", async () => {
    const name = `late_${Date.now()}`;
    const url = Object.assign(new URL(database.url), { pathname: `/${name}` }).href;
    const running = runCommand(["migrate", "--wait", "5m", "--database", url], {});
    await server.query(`create database ${name}`);
    expect((await running).code).toBe(0);
    expect(await server.query("select name from schema_migration", url)).toHaveLength(ALL.length);
  });

  it("ends with its signal while it waits", async () => {
    const stop = new AbortController();
    const running = runCommand(["migrate", "--wait", "5m", "--database", "postgres://u:p@127.0.0.1:1/x"], {}, stop.signal);
    stop.abort(new Error("SIGTERM"));
    expect(await running).toMatchObject({ code: 1, err: expect.stringContaining("SIGTERM") });
  });
});
