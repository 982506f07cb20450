import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { type DevApi, startDevCluster } from "../hack/dev-cluster/dev-cluster.ts";
import { freePort } from "../hack/dev-cluster/ports.ts";
import { type Fleet, startFleet } from "../hack/fleet/fleet.ts";
import { type GitServer, startGitServer } from "../hack/git-server/git-server.ts";
import { startEmbeddedPostgres } from "../src/runtime/embedded-postgres/embedded-postgres.ts";
import { silentLog } from "../src/telemetry/log.ts";
import type { HarnessCalls } from "./harness-client.ts";

/** Version of Argo CD the stories run on. */
const ARGO_CD = "3.5.7";
const START_MS = 45 * 60_000;

/**
 * Starts every real part once for all stories: Kubernetes, PostgreSQL, Git, two control planes and two Argo CD instances.
 * What it starts ends with it; the directory stays when ARGOSY_KEEP is set, with the logs in it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), "argosy-e2e-"));
  // PostgreSQL does not run as root; the user it runs as then must get through.
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
    const parts = await startParts(directory, stops);
    project.provide("harness", parts);
    return stop;
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
  const { client, kubernetes } = dev.main;
  // The control planes go through the fault proxy, so that their way to the API server can be disturbed without anybody else's.
  const cluster = { client, server: await dev.main.serverFor(CONTROL_PLANE), ca: kubernetes.ca };
  const fleet = await startFleet(
    {
      api: cluster,
      engines: [{ ...cluster, name: "local" }],
      databaseUrl: database.url,
      directory: join(directory, "argosy"),
      replicas: 2,
      instances: { min: 2, max: 2 },
      version: ARGO_CD,
      crds: join(argoCd.directory, "crds"),
      gitHost: "127.0.0.1",
      step,
      config: { apiCluster: { instanceServer: kubernetes.server } },
    },
    signal,
  );
  stops.push(fleet.stop);
  const harness = await serveHarness({ fleet, git, database, api: dev.main });
  stops.push(async () => harness.close());
  return {
    url: `http://127.0.0.1:${(harness.address() as AddressInfo).port}`,
    adminKubeconfig: dev.main.adminKubeconfig,
    gitUrl: git.url,
    databaseUrl: database.url,
    argosyUrls: fleet.urls,
    token: fleet.token,
  };
}

/** The party that both control planes are to the fault proxy. */
const CONTROL_PLANE = "control-plane";

interface Database {
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A PostgreSQL that can be stopped and started again under the same address. */
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
  process.stdout.write(`e2e: ${what} ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
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

interface Parts {
  readonly fleet: Fleet;
  readonly git: GitServer;
  readonly database: Database;
  readonly api: DevApi;
}

type Handlers = { readonly [Name in keyof HarnessCalls]: (args: HarnessCalls[Name]) => Promise<unknown> };

/** What stories may ask of the process that owns the parts. */
async function serveHarness({ fleet, git, database, api }: Parts): Promise<Server> {
  const handlers: Handlers = {
    commit: ({ repository, files }) => git.commit(repository, withoutNulls(files), "a change"),
    killArgosy: async ({ index }) => {
      fleet.processes[index]?.kill("SIGKILL");
      await fleet.processes[index]?.exited;
    },
    startArgosy: ({ index }) => fleet.restart(index, AbortSignal.timeout(60_000)),
    cutApiServer: () => api.faultProxy.disturb(CONTROL_PLANE, { kind: "refuse" }),
    restoreApiServer: () => api.faultProxy.restore(CONTROL_PLANE),
    stopDatabase: () => database.stop(),
    startDatabase: () => database.start(),
    killContainer: async ({ namespace, container }) => {
      const found = (api.node?.processes() ?? []).filter((running) => running.namespace === namespace && running.container === container);
      for (const { pid } of found) process.kill(pid, "SIGKILL");
      return found.length;
    },
  };
  const server = createServer((request, response) => {
    const handler = handlers[(request.url ?? "/").slice(1) as keyof HarnessCalls] as ((args: unknown) => Promise<unknown>) | undefined;
    const answer = async (): Promise<unknown> =>
      handler === undefined ? Promise.reject(new Error(`no call ${request.url}`)) : handler(JSON.parse(await bodyOf(request)));
    answer().then(
      (result) => response.end(JSON.stringify({ result })),
      (error: unknown) => response.end(JSON.stringify({ error: String(error) })),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** JSON has no `undefined`, by which a file is removed. */
function withoutNulls(files: Readonly<Record<string, string | undefined | null>>): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text ?? undefined]));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
