import { existsSync, mkdirSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError } from "../../src/domain/errors.ts";
import { type Files, fastImport, runGit } from "./git.ts";
import { serveWithBackend } from "./http-backend.ts";

/** How requests for a repository are answered instead of as usual. */
export interface Behaviour {
  readonly delayMs?: number;
  /** HTTP status of the answer. */
  readonly status?: number;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** A Git server over HTTP or HTTPS on loopback. Clients only read; its owner writes. */
export interface GitServer {
  readonly port: number;
  /** Without a slash at the end. */
  readonly url: string;
  repositoryUrl(repository: string): string;
  /** Creates a repository with one commit on `main`, or adds that commit to an existing one. Returns the commit's id. */
  createRepository(repository: string, files: Files): Promise<string>;
  /** Adds a commit on `main`. Files that are not named stay as they are. */
  commit(repository: string, files: Files, message: string): Promise<string>;
  /** Passes this input to `git fast-import --force`. Creates the repository if needed. */
  importInto(repository: string, stream: string): Promise<void>;
  /** Puts all that a repository has into one pack, as hosts do: what is fetched of it is copied, and not compressed again for each. */
  pack(repository: string): Promise<void>;
  /** Requires these credentials from now on. */
  protect(repository: string, credentials: Credentials): void;
  behave(repository: string, behaviour: Behaviour): void;
  /** Number of HTTP requests so far. */
  requests(repository: string): number;
  stop(): Promise<void>;
}

export interface GitServerOptions {
  /** Folder for the repositories. */
  readonly directory: string;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default: any that is free. */
  readonly port?: number;
  /** Certificate and key, PEM. With them it is served over TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

interface Repository {
  credentials: Credentials | undefined;
  behaviour: Behaviour;
  requests: number;
  /** Commits are made one after another. */
  last: Promise<unknown>;
}

export async function startGitServer(options: GitServerOptions): Promise<GitServer> {
  const { directory, host = "127.0.0.1" } = options;
  mkdirSync(directory, { recursive: true });
  const repositories = new Map<string, Repository>();
  const stopping = new AbortController();
  const repositoryOf = (name: string) => {
    const found = repositories.get(checked(name)) ?? { credentials: undefined, behaviour: {}, requests: 0, last: Promise.resolve() };
    repositories.set(name, found);
    return found;
  };
  /** Also a repository that an earlier server created. */
  const findRepository = (name: string) =>
    repositories.get(name) ?? (isName(name) && existsSync(join(directory, `${name}.git`, "HEAD")) ? repositoryOf(name) : undefined);
  const afterOthers = async <T>(name: string, write: () => Promise<T>): Promise<T> => {
    const repository = repositoryOf(name);
    const made = repository.last.then(write);
    repository.last = made.catch(() => undefined);
    return await made;
  };
  const commit = (name: string, files: Files, message: string) => afterOthers(name, () => addCommit(directory, name, { files, message }));
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answer({ directory, find: findRepository, request, response }, stopping.signal).catch(() => response.destroy());
  };
  const server = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(options.port ?? 0, host, resolve));
  const port = (server.address() as AddressInfo).port;
  const url = `${options.tls === undefined ? "http" : "https"}://${host}:${port}`;
  return {
    port,
    url,
    repositoryUrl: (name) => `${url}/${checked(name)}.git`,
    createRepository: (name, files) => commit(name, files, "Initial commit"),
    commit,
    importInto: (name, stream) =>
      afterOthers(name, async () => {
        const cwd = await openBare(directory, name);
        await runGit(["fast-import", "--quiet", "--force"], { cwd, home: directory, input: stream });
      }),
    pack: (name) =>
      afterOthers(
        name,
        async () => void (await runGit(["repack", "-a", "-d", "-q"], { cwd: await openBare(directory, name), home: directory })),
      ),
    protect: (name, credentials) => Object.assign(repositoryOf(name), { credentials }),
    behave: (name, behaviour) => Object.assign(repositoryOf(name), { behaviour }),
    requests: (name) => repositoryOf(name).requests,
    async stop() {
      stopping.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The folder of a repository, created if needed. */
async function openBare(directory: string, name: string): Promise<string> {
  const path = join(directory, `${name}.git`);
  if (!existsSync(join(path, "HEAD"))) {
    mkdirSync(dirname(path), { recursive: true });
    await runGit(["init", "--quiet", "--bare", "--initial-branch=main", path], { cwd: directory, home: directory });
  }
  return path;
}

async function addCommit(directory: string, name: string, change: { readonly files: Files; readonly message: string }): Promise<string> {
  const path = await openBare(directory, name);
  const git = { cwd: path, home: directory };
  const parent = (await runGit(["for-each-ref", "--format=%(objectname)", "refs/heads/main"], git)).trim();
  const input = fastImport(change.files, {
    message: change.message,
    seconds: Math.floor(Date.now() / 1000),
    parent: parent === "" ? undefined : parent,
  });
  await runGit(["fast-import", "--quiet"], { ...git, input });
  return (await runGit(["rev-parse", "refs/heads/main"], git)).trim();
}

interface Exchange {
  readonly directory: string;
  readonly find: (name: string) => Repository | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function answer({ directory, find, request, response }: Exchange, signal: AbortSignal): Promise<void> {
  const url = new URL(request.url ?? "/", "http://localhost");
  const name = /^\/(.+)\.git\/(info\/refs|git-upload-pack|HEAD|objects\/.+)$/.exec(url.pathname)?.[1];
  const repository = name === undefined ? undefined : find(name);
  const refuse = (status: number, headers: Record<string, string> = {}) => void response.writeHead(status, headers).end();
  if (repository === undefined) return refuse(404);
  repository.requests++;
  if (repository.behaviour.delayMs !== undefined) await sleep(repository.behaviour.delayMs, undefined, { signal });
  if (repository.behaviour.status !== undefined) return refuse(repository.behaviour.status);
  if (!isAllowed(request, repository.credentials)) return refuse(401, { "www-authenticate": 'Basic realm="git"' });
  serveWithBackend({ root: directory, home: directory, url, request, response });
}

function isAllowed(request: IncomingMessage, credentials: Credentials | undefined): boolean {
  if (credentials === undefined) return true;
  const wanted = Buffer.from(`${credentials.username}:${credentials.password}`, "utf8").toString("base64");
  return request.headers.authorization === `Basic ${wanted}`;
}

function isName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/.test(name);
}

function checked(name: string): string {
  if (isName(name)) return name;
  throw new InputError(`Naming the repository "${name}"`, {
    code: "dev.repository-name",
    path: "repository",
    remedy: "use letters, digits, dots and dashes, in parts divided by slashes",
  });
}
