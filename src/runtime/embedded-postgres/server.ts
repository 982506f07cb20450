import { type ChildProcess, spawn } from "node:child_process";
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError, UnavailableError } from "../../domain/errors.ts";
import { sleep, systemClock } from "../clock.ts";
import type { Binaries } from "./binaries.ts";
import { CHILD_ENVIRONMENT, ids, runToEnd } from "./child.ts";
import { type Layout, stateDirError } from "./layout.ts";
import { type PostmasterPid, parsePostmasterPid } from "./postmaster-pid.ts";
import { probe } from "./probe.ts";
import { identify, isServerOf, type ProcessIdentity } from "./process-identity.ts";
import type { RunAs } from "./run-as.ts";
import { initdbArguments, PG_HBA_CONF, POSTGRESQL_CONF } from "./settings.ts";

const POLL_MS = 10;
/** A healthy start takes 30 ms; recovery after a crash replays at most `max_wal_size`, seconds even on a slow disk. */
const READY_WITHIN_MS = 120_000;
const FAST_STOP_WITHIN_MS = 15_000;
/** After SIGQUIT the server itself kills its children after five seconds. */
const IMMEDIATE_STOP_WITHIN_MS = 10_000;
const KEPT_LOG_BYTES = 8 * 1024 * 1024;

export interface ServerOptions {
  readonly layout: Layout;
  readonly binaries: Binaries;
  readonly runAs: RunAs | undefined;
}

/**
 * Makes the cluster when there is none. `initdb` works in a directory beside it that is renamed at the end, so a crash in
 * between leaves nothing that looks like a database. Raises InputError for a cluster of another major version.
 */
export async function initialise({ layout, binaries, runAs }: ServerOptions, password: string, signal: AbortSignal): Promise<void> {
  const version = await readFile(join(layout.dataDir, "PG_VERSION"), "utf8").catch(() => undefined);
  if (version !== undefined) return checkVersion(version.trim(), binaries, layout);
  const workDir = join(layout.root, "initdb");
  const unfinished = join(workDir, "data");
  const passwordFile = join(workDir, "password");
  try {
    await rm(workDir, { recursive: true, force: true });
    await mkdir(workDir, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (runAs !== undefined) for (const path of [workDir, passwordFile]) await chown(path, runAs.uid, runAs.gid);
    const finished = await runToEnd(binaries.initdb, initdbArguments(unfinished, passwordFile), { runAs, signal });
    if (finished.code !== 0) throw failure(`creating the database in ${layout.dataDir}`, finished.output);
    await rename(unfinished, layout.dataDir);
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).syscall === undefined
      ? cause
      : stateDirError(`creating the database in ${layout.dataDir}`, "postgres.data-dir", cause);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

function checkVersion(found: string, binaries: Binaries, layout: Layout): void {
  if (Number(found) === binaries.majorVersion) return;
  throw new InputError(`using ${layout.dataDir}: it was made by PostgreSQL ${found}, this is ${binaries.majorVersion}`, {
    code: "postgres.version",
    path: "stateDir",
    remedy: "Choose another state directory, or move the data with pg_dump of the old version to a server named by DATABASE_URL",
  });
}

/** Writes the configuration, which is not the user's to change. */
export async function configure({ layout, runAs }: ServerOptions): Promise<void> {
  for (const [name, text] of [
    ["postgresql.conf", POSTGRESQL_CONF],
    ["pg_hba.conf", PG_HBA_CONF],
  ] as const) {
    const path = join(layout.dataDir, name);
    try {
      await writeFile(path, text, { mode: 0o600 });
      if (runAs !== undefined) await chown(path, runAs.uid, runAs.gid);
    } catch (cause) {
      throw stateDirError(`writing ${path}`, "postgres.data-dir", cause);
    }
  }
}

export interface Launched {
  readonly pid: number;
  /** Resolves with the manner of its end. */
  readonly ended: Promise<string>;
}

/**
 * Starts the server on `port` as a process group of its own, with its output in a file: neither a Ctrl-C meant for us nor
 * our death must reach it. Returns once it takes connections. Raises UnavailableError `postgres.port-busy` when the port is
 * taken, `postgres.in-use` while processes of a killed server are still about, InputError when the directory does not allow a
 * start.
 */
export async function launch({ layout, binaries, runAs }: ServerOptions, port: number, signal: AbortSignal): Promise<Launched> {
  const output = await openServerLog(layout.serverLog);
  const logFrom = (await output.stat()).size;
  const args = ["-D", layout.dataDir, "-p", String(port)];
  const child = spawn(binaries.postgres, args, {
    cwd: "/",
    env: CHILD_ENVIRONMENT,
    detached: true,
    stdio: ["ignore", output.fd, output.fd],
    ...ids(runAs),
  });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, killedBy) => resolve(`exit ${code ?? killedBy}`));
  });
  child.unref();
  await output.close();
  try {
    await waitReady({ layout, port, child, ended }, signal);
  } catch (cause) {
    await giveUp(child, ended);
    throw signal.aborted ? signal.reason : await explain(cause, { layout, logFrom, port });
  }
  return { pid: child.pid ?? 0, ended };
}

async function giveUp(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill("SIGQUIT");
  const cancel = systemClock.after(IMMEDIATE_STOP_WITHIN_MS, () => child.kill("SIGKILL"));
  await ended;
  cancel();
}

async function openServerLog(path: string): Promise<Awaited<ReturnType<typeof open>>> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > KEPT_LOG_BYTES) await rename(path, `${path}.1`);
  return open(path, "a", 0o600);
}

interface Starting {
  readonly layout: Layout;
  readonly port: number;
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
}

/** Both must hold: our own child wrote `ready` (another server may hold the port), and the port answers. */
async function waitReady({ layout, port, child, ended }: Starting, signal: AbortSignal): Promise<void> {
  let end: string | undefined;
  void ended.then((how) => {
    end = how;
  });
  const deadline = systemClock.monotonicMs() + READY_WITHIN_MS;
  while (systemClock.monotonicMs() < deadline) {
    if (end !== undefined) throw new Error(`the server ended: ${end}`);
    const running = await readPostmasterPid(layout.dataDir);
    if (running?.pid === child.pid && running?.status === "ready" && (await probe(port, signal)) === "accepting") return;
    await sleep(systemClock, POLL_MS, signal);
  }
  throw new Error(`the server was not ready after ${READY_WITHIN_MS} ms`);
}

async function explain(cause: unknown, at: { readonly layout: Layout; readonly logFrom: number; readonly port: number }): Promise<Error> {
  const log = (await readFile(at.layout.serverLog).catch(() => Buffer.alloc(0))).subarray(at.logFrom).toString("utf8").trim();
  if (/Address already in use|Permission denied.*bind|could not create any TCP\/IP sockets/.test(log)) {
    return new UnavailableError(`starting PostgreSQL on 127.0.0.1:${at.port}: the port is taken`, {
      code: "postgres.port-busy",
      cause,
      context: { port: at.port },
    });
  }
  if (/pre-existing shared memory block|lock file .* already exists/.test(log)) {
    return new UnavailableError(`starting PostgreSQL in ${at.layout.dataDir}: processes of a killed server still use it`, {
      code: "postgres.in-use",
      cause,
    });
  }
  return failure(`starting PostgreSQL in ${at.layout.dataDir} (its log: ${at.layout.serverLog})`, log, cause);
}

/** What the programs print, as an error that names the remedy for the failures people meet. */
function failure(doing: string, output: string, cause?: unknown): Error {
  const said =
    output
      .split("\n")
      .filter((line) => /FATAL|PANIC|error|initdb:/i.test(line))
      .slice(-3)
      .join("; ") || output.slice(-500);
  const systemCode = /No space left/.test(output)
    ? "ENOSPC"
    : /Read-only file system/.test(output)
      ? "EROFS"
      : /Permission denied/.test(output)
        ? "EACCES"
        : undefined;
  if (systemCode === undefined) return new UnavailableError(`${doing}: ${said}`, { code: "postgres.start", cause });
  return stateDirError(`${doing}: ${said}`, "postgres.data-dir", Object.assign(new Error(said, { cause }), { code: systemCode }));
}

export async function readPostmasterPid(dataDir: string): Promise<PostmasterPid | undefined> {
  const text = await readFile(join(dataDir, "postmaster.pid"), "utf8").catch(() => undefined);
  return text === undefined ? undefined : parsePostmasterPid(text);
}

/** The live server of this data directory, if one runs: the pid file alone proves nothing, its pid may be another's by now. */
export async function findRunning(dataDir: string): Promise<(PostmasterPid & { readonly identity: ProcessIdentity }) | undefined> {
  const noted = await readPostmasterPid(dataDir);
  const identity = noted === undefined ? undefined : await identify(noted.pid);
  return noted !== undefined && identity !== undefined && isServerOf(dataDir, identity) ? { ...noted, identity } : undefined;
}

/** Asks the server of this data directory to stop: fast first (open transactions roll back), then at once. */
export async function stopServer(dataDir: string): Promise<void> {
  const steps = [
    ["SIGINT", FAST_STOP_WITHIN_MS],
    ["SIGQUIT", IMMEDIATE_STOP_WITHIN_MS],
  ] as const;
  for (const [killSignal, withinMs] of steps) {
    const running = await findRunning(dataDir);
    if (running === undefined) return;
    signalIfThere(running.pid, killSignal);
    if (await waitGone(running.identity, withinMs)) return;
  }
  throw new UnavailableError(`stopping PostgreSQL in ${dataDir}: it did not end`, { code: "postgres.stop" });
}

function signalIfThere(pid: number, killSignal: "SIGINT" | "SIGQUIT"): void {
  try {
    process.kill(pid, killSignal);
  } catch (cause) {
    // It ended by itself in this moment, which is what we want.
    if ((cause as NodeJS.ErrnoException).code !== "ESRCH") throw cause;
  }
}

/**
 * Whether the process ended in time. It is recognised by its start, not by its command line: that one is empty already while the
 * kernel still takes the process apart.
 */
async function waitGone(of: ProcessIdentity, withinMs: number): Promise<boolean> {
  const never = new AbortController().signal;
  const deadline = systemClock.monotonicMs() + withinMs;
  while ((await identify(of.pid))?.startedAt === of.startedAt) {
    if (systemClock.monotonicMs() > deadline) return false;
    await sleep(systemClock, POLL_MS, never);
  }
  return true;
}
