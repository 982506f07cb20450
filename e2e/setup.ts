import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { startDevCluster } from "../hack/dev-cluster/dev-cluster.ts";
import { createFaultProxy } from "../hack/dev-cluster/fault-proxy.ts";
import { freePort } from "../hack/dev-cluster/ports.ts";
import { type Fleet, startFleet } from "../hack/fleet/fleet.ts";
import { startGitServer } from "../hack/git-server/git-server.ts";
import { ROLES } from "../src/domain/role.ts";
import { startEmbeddedPostgres } from "../src/runtime/embedded-postgres/embedded-postgres.ts";
import { silentLog } from "../src/telemetry/log.ts";
import { clockEnvironment } from "./clock-environment.ts";
import { type Database, serveHarness } from "./harness.ts";
import type { HarnessAddress } from "./harness-client.ts";
import { inSeconds } from "./in-seconds.ts";
import { startPrivateGit } from "./private-git.ts";
import { askSecrecy } from "./secrecy/ask.ts";
import { createSecretInventory, type SecretInventory } from "./secrecy/secrets.ts";

/** Version of Argo CD that the stories run on. */
const ARGO_CD = "3.5.7";
const START_MS = 45 * 60_000;

/** Every real part, running: Kubernetes, PostgreSQL, Git, two control planes and two Argo CD instances. */
interface RunningWorld {
  readonly facts: HarnessAddress;
  /** Fails if a secret of the stories stands somewhere. */
  expectNothingSaid(): Promise<void>;
  /** What was started ends with it. The directory with the logs stays if ARGOSY_KEEP is set. */
  stop(): Promise<void>;
}

/** Starts a world for each worker, so for each test file that runs at once. They share nothing but this process. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const starts = await Promise.allSettled(Array.from({ length: project.config.maxWorkers }, startWorld));
  const worlds = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  const stopAll = () => Promise.all(worlds.map((world) => world.stop()));
  const failure = starts.find((start) => start.status === "rejected");
  if (failure !== undefined) {
    await stopAll();
    throw failure.reason;
  }
  project.provide(
    "harnesses",
    worlds.map(({ facts }) => facts),
  );
  return async () => {
    try {
      for (const world of worlds) await world.expectNothingSaid();
    } finally {
      await stopAll();
      // Sockets whose other side died with its process can keep Node's own clean-up busy for ever once nothing is left to do.
      process.once("beforeExit", () => process.exit());
    }
  };
}

async function startWorld(): Promise<RunningWorld> {
  const directory = mkdtempSync(join(tmpdir(), "argosy-e2e-"));
  // PostgreSQL does not run as root, and the user it runs as has to reach the directory.
  chmodSync(directory, 0o711);
  mkdirSync(join(directory, "argosy"));
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of stops.splice(0).reverse())
      await end().catch((error: unknown) => process.stderr.write(`e2e: stopping: ${String(error)}\n`));
    if (process.env["ARGOSY_KEEP"] === undefined) rmSync(directory, { recursive: true, force: true });
    else process.stdout.write(`e2e: logs are in ${directory}\n`);
  };
  try {
    return { ...(await startParts(directory, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(directory: string, stops: (() => Promise<unknown>)[]) {
  const signal = AbortSignal.timeout(START_MS);
  const dev = await step("cluster", () => startDevCluster({ stateDir: join(directory, "cluster"), progress: reportBuild }, signal));
  stops.push(dev.stop);
  const argoCd = await step("Argo CD", () => dev.argoCd(ARGO_CD, signal));
  const database = await step("PostgreSQL", () => openDatabase(join(directory, "postgres"), signal));
  stops.push(() => database.stop());
  const git = await startGitServer({ directory: join(directory, "git") });
  stops.push(git.stop);
  const privateGit = await startPrivateGit(directory, signal);
  stops.push(privateGit.stop);
  const { client, kubernetes } = dev.main;
  // The control planes' connections go through fault proxies, so that each can be disturbed alone. Both clusters are
  // one server, but have a connection each.
  const [apiServer, engineServer] = [await dev.main.serverFor("api"), await dev.main.serverFor("engine")];
  const cluster = { client, server: apiServer, ca: kubernetes.ca };
  const databaseProxy = createFaultProxy({ target: { host: "127.0.0.1", port: Number(new URL(database.url).port) } });
  stops.push(databaseProxy.close);
  const databaseUrl = Object.assign(new URL(database.url), { port: String(await databaseProxy.portFor("database")) }).href;
  const clockFile = join(directory, "clock");
  const fleet = await startFleet(
    {
      api: cluster,
      // Pods of the development cluster are processes of this machine.
      engines: [{ ...cluster, server: engineServer, name: "local", reach: "address" }],
      databaseUrl,
      directory: join(directory, "argosy"),
      replicas: process.env["ARGOSY_LONG"] === undefined ? 2 : 3,
      env: clockEnvironment(clockFile),
      instances: { min: 2, max: 2 },
      version: ARGO_CD,
      crds: join(argoCd.directory, "crds"),
      gitHost: "127.0.0.1",
      trust: privateGit.trust,
      step,
      // Canaries and restarts are switched on by single stories: others count writes, and measure times. Load
      // measurements are as frequent as possible, because a story compares them with the controllers' logs.
      config: {
        apiCluster: { instanceServer: kubernetes.server },
        roles: ROLES.filter((role) => role !== "health"),
        sampling: { periodMs: 15_000 },
        // Only pools that say so change their size.
        scaling: { spareMs: 20_000, restMs: 20_000 },
        splitting: { roomyMs: 20_000 },
      },
    },
    signal,
  );
  stops.push(fleet.stop);
  const secrets = createSecretInventory();
  keepOwn(secrets, { directory: join(directory, "argosy"), fleet, databaseUrl: database.url });
  const harness = await serveHarness({ fleet, git, privateGit, database, databaseProxy, api: dev.main, clockFile, secrets });
  stops.push(async () => harness.close());
  const facts = {
    url: `http://127.0.0.1:${(harness.address() as AddressInfo).port}`,
    adminKubeconfig: dev.main.adminKubeconfig,
    gitUrl: git.url,
    privateGitUrl: privateGit.https.url,
    privateSshUrl: privateGit.ssh.repositoryUrl("x").replace(/\/x\.git$/, ""),
    databaseUrl: database.url,
    argosyUrls: fleet.urls,
    token: fleet.token,
    approverToken: fleet.approverToken,
    fleetDocument: fleet.document,
  };
  const traces = {
    adminKubeconfig: dev.main.adminKubeconfig,
    databaseUrl: database.url,
    directory: join(directory, "argosy"),
    argosyUrls: fleet.urls,
    token: fleet.token,
  };
  const expectNothingSaid = () =>
    step("secrecy", async () => void process.stdout.write(`e2e: said: ${await askSecrecy({ traces, kept: secrets.kept() })}`));
  return { facts, expectNothingSaid };
}

/** Credentials of Argosy itself. */
function keepOwn(
  secrets: SecretInventory,
  { directory, fleet, databaseUrl }: { readonly directory: string; readonly fleet: Fleet; readonly databaseUrl: string },
): void {
  secrets.keep("the database's password", new URL(databaseUrl).password);
  secrets.keep("an operator's token", fleet.token);
  secrets.keep("an approver's token", fleet.approverToken);
  secrets.keep("the key of the database's secrets", readFileSync(join(directory, "encryption.key"), "utf8"));
  const kubeconfig = readFileSync(join(directory, "api-cluster.kubeconfig"), "utf8");
  secrets.keep("Argosy's token for the API cluster", /^\s+token: (\S+)$/m.exec(kubeconfig)?.[1] ?? "");
}

/** A PostgreSQL that can be stopped and started again at the same address. */
async function openDatabase(stateDir: string, signal: AbortSignal): Promise<Database> {
  const port = await freePort();
  const start = () => startEmbeddedPostgres({ stateDir, port, signal, log: silentLog });
  let running = await start();
  return {
    url: running.url,
    async start() {
      running = await start();
    },
    stop: () => running.stop(),
  };
}

async function step<T>(what: string, run: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await run();
  process.stdout.write(`e2e: ${what} ${inSeconds(performance.now() - startedAt)}\n`);
  return result;
}

function reportBuild({
  set,
  step: name,
  seconds,
  done,
}: {
  readonly set: string;
  readonly step: string;
  readonly seconds: number;
  readonly done: boolean;
}): void {
  if (done && seconds > 0) process.stdout.write(`e2e: built ${name} of ${set} ${seconds} s\n`);
}
