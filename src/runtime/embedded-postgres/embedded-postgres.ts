import { randomBytes } from "node:crypto";
import { access, open, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { InputError, UnavailableError } from "../../domain/errors.ts";
import type { Log } from "../../telemetry/log.ts";
import { sleep, systemClock } from "../clock.ts";
import { provideBinaries } from "./binaries.ts";
import { type Layout, openWay, prepareLayout, stateDirError } from "./layout.ts";
import { createHolders, withLock } from "./lock.ts";
import { probe } from "./probe.ts";
import { identify } from "./process-identity.ts";
import { chooseRunAs } from "./run-as.ts";
import { configure, findRunning, initialise, type Launched, launch, readPostmasterPid, type ServerOptions, stopServer } from "./server.ts";
import { databaseUrl } from "./settings.ts";

export interface EmbeddedPostgresOptions {
  /** Everything is kept in `postgres/` of this directory. */
  readonly stateDir: string;
  /** Fixed loopback port; a free one is chosen when absent. Ignored when a running server is joined. */
  readonly port?: number;
  /** Ends a start that is under way. Has no meaning once the server runs. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface EmbeddedPostgres {
  /** Of the maintenance database `postgres`, with the superuser's password: a secret. */
  readonly url: string;
  readonly pid: number;
  /** Whether the server ran already. */
  readonly reused: boolean;
  /** Ends our use; stops the server unless another living process uses it. May be called again. */
  stop(): Promise<void>;
}

const LAUNCH_ATTEMPTS = 20;
const LAUNCH_RETRY_MS = 250;
const JOIN_WITHIN_MS = 120_000;

/**
 * Runs a PostgreSQL server of our own for evaluation and development: one node, one state directory. Creates the cluster
 * when there is none, joins the server that already runs there (after our own `kill -9` it goes on), else starts it. As root
 * it is run by an unprivileged user, since PostgreSQL refuses root. A server that this data directory does not belong to is
 * never signalled. Several processes may share one state directory: the last one to stop ends the server.
 *
 * Raises InputError for everything the user can put right (directory, platform, libraries, owner, version, fixed port),
 * UnavailableError when the server does not come up, the signal's reason when that aborts.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { stateDir, signal, log } = options;
  const layout = await prepareLayout(stateDir);
  const started = await withLock(layout.lockFile, () => joinOrStart(layout, options), signal).catch((cause: unknown) => {
    throw (cause as NodeJS.ErrnoException).syscall === undefined
      ? cause
      : stateDirError(`writing in ${layout.root}`, "postgres.state-dir", cause);
  });
  log.info({ pid: started.pid, port: started.port, reused: started.reused, dataDir: layout.dataDir }, "Using the embedded PostgreSQL");
  let stopping: Promise<void> | undefined;
  void started.ended?.then((how) => {
    if (stopping === undefined) log.error({ how, log: layout.serverLog }, "Losing the embedded PostgreSQL; start again to have it back");
  });
  return {
    url: databaseUrl(started.port, started.password),
    pid: started.pid,
    reused: started.reused,
    stop: () => (stopping ??= stop(layout, started.leave, log)),
  };
}

interface Running {
  readonly pid: number;
  readonly port: number;
  readonly reused: boolean;
  /** Only known of our own child. */
  readonly ended?: Promise<string>;
}

interface Started extends Running {
  readonly password: string;
  readonly leave: () => Promise<{ readonly othersRemain: boolean }>;
}

async function joinOrStart(layout: Layout, options: EmbeddedPostgresOptions): Promise<Started> {
  const password = await providePassword(layout);
  const running = (await joinRunning(layout, options.signal)) ?? (await startNew(layout, password, options));
  return { ...running, password, leave: await createHolders(layout.holdersDir).join() };
}

/** Waits for the server that runs here to take connections; `undefined` when none runs or the one that did has ended. */
async function joinRunning(layout: Layout, signal: AbortSignal): Promise<Running | undefined> {
  const deadline = systemClock.monotonicMs() + JOIN_WITHIN_MS;
  while (systemClock.monotonicMs() < deadline) {
    const running = await findRunning(layout.dataDir);
    if (running === undefined) return undefined;
    const { pid, port, status } = running;
    if (port !== undefined && status === "ready" && (await probe(port, signal)) === "accepting") return { pid, port, reused: true };
    await sleep(systemClock, 50, signal);
  }
  throw new UnavailableError(`joining the PostgreSQL server that runs in ${layout.dataDir}: it takes no connections`, {
    code: "postgres.start",
  });
}

async function startNew(layout: Layout, password: string, options: EmbeddedPostgresOptions): Promise<Running> {
  const { signal, log } = options;
  const runAs = await chooseRunAs(layout.dataDir);
  await openWay(layout, runAs);
  const server: ServerOptions = { layout, runAs, binaries: await provideBinaries(layout.root, runAs, signal) };
  log.info({ dataDir: layout.dataDir, user: runAs?.name }, "Starting the embedded PostgreSQL");
  await initialise(server, password, signal);
  await configure(server);
  await removeForeignPidFile(layout.dataDir);
  return { ...(await launchOnAPort(server, options)), reused: false };
}

async function launchOnAPort(
  server: ServerOptions,
  { port: fixed, signal }: EmbeddedPostgresOptions,
): Promise<Launched & { readonly port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = fixed ?? (await freePort());
    try {
      return { port, ...(await launch(server, port, signal)) };
    } catch (cause) {
      if (attempt === LAUNCH_ATTEMPTS || !mayPass(cause, fixed)) throw cause;
      await sleep(systemClock, LAUNCH_RETRY_MS, signal);
    }
  }
}

/**
 * Whether another attempt may do better: somebody took the free port between our check and the server's start, or the children of a
 * killed server have not noticed yet. Raises InputError for a fixed port that is taken.
 */
function mayPass(cause: unknown, fixedPort: number | undefined): boolean {
  const code = cause instanceof UnavailableError ? cause.code : undefined;
  if (code !== "postgres.port-busy") return code === "postgres.in-use";
  if (fixedPort === undefined) return true;
  const remedy = "Choose another port, or none to have a free one chosen";
  throw new InputError(`starting PostgreSQL on 127.0.0.1:${fixedPort}: the port is taken`, { code, path: "port", remedy, cause });
}

/** A port nobody listens on at this moment. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0 }, () => {
      const address = server.address();
      server.close(() => (address !== null && typeof address === "object" ? resolve(address.port) : reject(new Error("no address"))));
    });
  });
}

/**
 * PostgreSQL clears the pid file of a dead server itself but takes any living process with that pid for its predecessor:
 * common in containers, where pids start at 1 again. We know by its command line that it is not.
 */
async function removeForeignPidFile(dataDir: string): Promise<void> {
  const noted = await readPostmasterPid(dataDir);
  const holder = noted === undefined ? undefined : await identify(noted.pid);
  // Without a command line it may be our server on its last way; PostgreSQL refuses then, and the start is tried again.
  if (holder === undefined || holder.command.length === 0) return;
  await rm(join(dataDir, "postmaster.pid"), { force: true });
}

/** The superuser's password, made before the cluster is. Raises InputError when the cluster is there and the password is not. */
async function providePassword(layout: Layout): Promise<string> {
  const kept = await readFile(layout.passwordFile, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined;
    throw stateDirError(`reading ${layout.passwordFile}`, "postgres.password", cause);
  });
  if (kept !== undefined && kept.trim() !== "") return kept.trim();
  const isNew = await access(join(layout.dataDir, "PG_VERSION")).then(
    () => false,
    () => true,
  );
  if (!isNew) {
    throw new InputError(`reading ${layout.passwordFile}, the password of the database beside it`, {
      code: "postgres.password",
      path: "stateDir",
      remedy: "Restore the file, or choose another state directory",
    });
  }
  const password = randomBytes(24).toString("base64url");
  const file = await open(layout.passwordFile, "w", 0o600);
  await file.writeFile(`${password}\n`);
  await file.sync();
  await file.close();
  return password;
}

async function stop(layout: Layout, leave: Started["leave"], log: Log): Promise<void> {
  await withLock(
    layout.lockFile,
    async () => {
      const { othersRemain } = await leave();
      log.info(
        { dataDir: layout.dataDir, othersRemain },
        othersRemain ? "Leaving the embedded PostgreSQL to others" : "Stopping the embedded PostgreSQL",
      );
      if (!othersRemain) await stopServer(layout.dataDir);
    },
    AbortSignal.timeout(60_000),
  );
}
