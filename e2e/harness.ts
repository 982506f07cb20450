import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import type { DevApi } from "../hack/dev-cluster/dev-cluster.ts";
import type { FaultProxy } from "../hack/dev-cluster/fault-proxy.ts";
import type { Fleet } from "../hack/fleet/fleet.ts";
import type { GitServer } from "../hack/git-server/git-server.ts";
import { createGates } from "./gate/gates.ts";
import type { HarnessCalls, Way } from "./harness-client.ts";
import type { PrivateGit } from "./private-git.ts";
import type { SecretInventory } from "./secrecy/secrets.ts";

/** A PostgreSQL that can be stopped and started again at the same address. */
export interface Database {
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface Parts {
  readonly fleet: Fleet;
  readonly git: GitServer;
  readonly privateGit: PrivateGit;
  readonly database: Database;
  readonly databaseProxy: FaultProxy;
  readonly api: DevApi;
  /** The file in which a control plane process finds how far its clock is off, on SIGUSR2. */
  readonly clockFile: string;
  readonly secrets: SecretInventory;
}

type Handlers = { readonly [Name in keyof HarnessCalls]: (args: HarnessCalls[Name]) => Promise<unknown> };

/** Timeout of a start. It takes seconds; on a busy machine it may take a minute. */
const RESTART_MS = 5 * 60_000;

/** What stories may ask of the process that owns the parts. */
export async function serveHarness(parts: Parts): Promise<Server> {
  const handlers = createHandlers(parts);
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

function createHandlers({ fleet, git, privateGit, database, databaseProxy, api, clockFile, secrets }: Parts): Handlers {
  const running = ({ namespace, container }: { readonly namespace: string; readonly container: string }) =>
    (api.node?.processes() ?? []).filter((one) => one.namespace === namespace && one.container === container);
  const gates = createGates({ api, databaseProxy, databaseUrl: database.url, processes: fleet.processes });
  const proxyOf = (way: Way): FaultProxy => (way === "database" ? databaseProxy : api.faultProxy);
  return {
    commit: ({ repository, files }) => git.commit(repository, withoutNulls(files), "a change"),
    importGit: ({ repository, stream }) => git.importInto(repository, stream),
    commitPrivate: ({ repository, files }) => privateGit.https.commit(repository, withoutNulls(files), "a change"),
    delayGit: async ({ repositories, delayMs }) => {
      for (const name of repositories) git.behave(name, { delayMs });
    },
    failGit: async ({ repository, status }) => git.behave(repository, status === undefined ? {} : { status }),
    protect: async ({ repository, ...credentials }) => {
      secrets.keep(`a password of ${repository}`, credentials.password);
      privateGit.https.protect(repository, credentials);
    },
    issueSshKey: async () => {
      const key = privateGit.ssh.issueKey();
      secrets.keep("a key for Git over SSH", key);
      return key;
    },
    keepSecret: async ({ what, value }) => secrets.keep(what, value),
    killArgosy: async ({ index }) => {
      fleet.processes[index]?.kill("SIGKILL");
      await fleet.processes[index]?.exited;
    },
    startArgosy: ({ index, ...config }) => fleet.restart(index, AbortSignal.timeout(RESTART_MS), config),
    watchWrites: (watching) => gates.watch(watching),
    writesSeen: async () => gates.account(),
    closeGates: () => gates.close(),
    configOf: async ({ index }) => fleet.processes[index]?.configFile,
    memberOf: async ({ index }) => lastMember(readFileSync(fleet.processes[index]?.logFile ?? "", "utf8")),
    disturb: ({ way, fault }) => proxyOf(way).disturb(way, fault),
    restore: ({ way }) => proxyOf(way).restore(way),
    restartApiServer: async () => {
      await api.kubernetes.stopComponent("kube-apiserver");
      await api.kubernetes.start(AbortSignal.timeout(60_000));
    },
    stopDatabase: () => database.stop(),
    startDatabase: () => database.start(),
    setClock: async ({ index, aheadMs }) => {
      writeFileSync(clockFile, String(aheadMs));
      fleet.processes[index]?.kill("SIGUSR2");
      while (existsSync(clockFile)) await sleep(5, undefined, { signal: AbortSignal.timeout(10_000) });
    },
    killContainer: async (which) => {
      const found = running(which);
      for (const { pid } of found) process.kill(pid, "SIGKILL");
      return found.length;
    },
    saidBy: async ({ containing, ...which }) => running(which).flatMap(({ log }) => linesOf(log, containing)),
    saidByArgosy: async ({ containing }) => fleet.processes.flatMap(({ logFile }) => linesOf(logFile, containing)),
  };
}

function linesOf(log: string, containing: string): readonly string[] {
  return readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes(containing));
}

/** The log continues after a restart, under another id. */
function lastMember(log: string): string | undefined {
  return [...log.matchAll(/"member":"([^"]+)"/g)].at(-1)?.[1];
}

/** JSON has no `undefined`, which means that a file is removed. */
function withoutNulls(files: Readonly<Record<string, string | undefined | null>>): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text ?? undefined]));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
