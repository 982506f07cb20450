import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { NODE_FLAGS } from "../../tools/release/image/node-flags.ts";
import { type DevProcess, findProcess, startProcess, stopProcess } from "../dev-cluster/processes/process.ts";

const ENTRY = join(dirname(fileURLToPath(import.meta.url)), "../../src/cli/argosy.ts");

/** One `argosy serve` to start. */
export interface ArgosyFacts {
  /** Name of the process in file names, e.g. `argosy-1`. */
  readonly name: string;
  readonly directory: string;
  readonly databaseUrl: string;
  /** kubeconfig of Argosy's own account on the API cluster. */
  readonly kubeconfig: string;
  /** File with the 32-byte key, base64. */
  readonly encryptionKeyFile: string;
  readonly port: number;
  readonly config?: Readonly<Record<string, unknown>>;
  /** The file that Node.js starts, e.g. that of a program written as the image has it. Absent: the checkout's TypeScript. */
  readonly program?: string;
  /** Environment variables in addition to this process's. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ArgosyProcess {
  readonly url: string;
  readonly pid: number;
  readonly logFile: string;
  readonly configFile: string;
  /** Resolves with the exit code, 128 + n after signal n. */
  readonly exited: Promise<number>;
  /**
   * Waits until /readyz is ready. Throws with the end of the log if the process ends first, and with the signal's
   * reason when that aborts.
   */
  ready(signal: AbortSignal): Promise<void>;
  /** SIGTERM, and SIGKILL if that is not enough. */
  stop(): Promise<void>;
  kill(name: NodeJS.Signals): void;
}

const STOP_MS = 20_000;
const POLL_MS = 50;

/**
 * Starts a control plane process with the image's flags of Node.js, after it has ended the one that a killed predecessor left. It
 * ends when this process is gone, however that happened.
 */
export async function startArgosy(facts: ArgosyFacts): Promise<ArgosyProcess> {
  const run = join(facts.directory, `${facts.name}.run`);
  mkdirSync(facts.directory, { recursive: true });
  const left = findProcess(run);
  if (left !== undefined) await stopProcess(left, STOP_MS);
  const configFile = join(facts.directory, `${facts.name}.yaml`);
  writeFileSync(configFile, stringify(configOf(facts)), { mode: 0o600 });
  const log = join(facts.directory, `${facts.name}.log`);
  const started = await startProcess({
    directory: run,
    command: process.execPath,
    args: [...NODE_FLAGS, facts.program ?? ENTRY, "serve", "--config", configFile],
    env: { ...environment(), ...facts.env, DATABASE_URL: facts.databaseUrl },
    cwd: facts.directory,
    log,
    endsWithUs: true,
  });
  return supervise(started, { url: `http://127.0.0.1:${facts.port}`, logFile: log, configFile });
}

/** Ends control plane processes that a killed process had started in a directory. Returns how many there were. */
export async function stopLeftArgosy(directory: string): Promise<number> {
  const names = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".run")) : [];
  const left = names.flatMap((name) => findProcess(join(directory, name)) ?? []);
  await Promise.all(left.map((each) => stopProcess(each, STOP_MS)));
  return left.length;
}

/** This process's environment without its access to a cluster: Argosy's configuration names that. */
function environment(): Readonly<Record<string, string>> {
  const ours = Object.entries(process.env).filter(([name, value]) => value !== undefined && name !== "KUBECONFIG");
  return Object.fromEntries(ours) as Record<string, string>;
}

function configOf(facts: ArgosyFacts): Readonly<Record<string, unknown>> {
  const { apiCluster, ...more } = facts.config ?? {};
  return {
    apiCluster: { name: "main", kubeconfig: facts.kubeconfig, singleServer: true, ...(apiCluster as object | undefined) },
    // A node that runs programs knows this name for the checkout.
    clusterFilter: { image: "argosy:checkout" },
    listen: { host: "127.0.0.1", port: facts.port },
    encryption: { current: "local", keys: [{ id: "local", file: facts.encryptionKeyFile }] },
    ...more,
  };
}

function supervise(child: DevProcess, facts: Pick<ArgosyProcess, "url" | "logFile" | "configFile">): ArgosyProcess {
  const { url, logFile } = facts;
  return {
    ...facts,
    pid: child.pid,
    exited: child.ended,
    async ready(signal) {
      while (!(await answers(`${url}/readyz`))) {
        signal.throwIfAborted();
        if (!child.isAlive()) throw new Error(`Argosy ended with ${await child.ended}; its log (${logFile}) ends:\n${tail(logFile)}`);
        await sleep(POLL_MS);
      }
    },
    stop: async () => void (await stopProcess(child, STOP_MS)),
    kill: (name) => child.signal(name),
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

const TAIL_LINES = 20;

function tail(file: string): string {
  return readFileSync(file, "utf8").trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}
