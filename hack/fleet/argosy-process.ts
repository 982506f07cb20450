import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";

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
}

export interface ArgosyProcess {
  readonly url: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves with the exit code or the signal's name. */
  readonly exited: Promise<number | string>;
  /** Waits until /readyz says so; throws with the end of the log when the process ends first. */
  ready(signal: AbortSignal): Promise<void>;
  /** SIGTERM, and SIGKILL when that is not enough. */
  stop(): Promise<void>;
  kill(name: NodeJS.Signals): void;
}

const STOP_MS = 20_000;
const POLL_MS = 50;

/** Starts a control plane process of its own from the checkout. */
export function startArgosy(facts: ArgosyFacts): ArgosyProcess {
  mkdirSync(facts.directory, { recursive: true });
  const configFile = join(facts.directory, `${facts.name}.yaml`);
  writeFileSync(configFile, stringify(configOf(facts)), { mode: 0o600 });
  const logFile = join(facts.directory, `${facts.name}.log`);
  const log = openSync(logFile, "a");
  const { KUBECONFIG: _ignored, ...env } = process.env;
  const child = spawn(process.execPath, [ENTRY, "serve", "--config", configFile], {
    stdio: ["ignore", log, log],
    env: { ...env, DATABASE_URL: facts.databaseUrl },
  });
  closeSync(log);
  return supervise(child, { url: `http://127.0.0.1:${facts.port}`, logFile });
}

function configOf(facts: ArgosyFacts): Readonly<Record<string, unknown>> {
  const { apiCluster, ...more } = facts.config ?? {};
  return {
    apiCluster: { name: "main", kubeconfig: facts.kubeconfig, ...(apiCluster as object | undefined) },
    listen: { host: "127.0.0.1", port: facts.port },
    encryption: { current: "local", keys: [{ id: "local", file: facts.encryptionKeyFile }] },
    ...more,
  };
}

function supervise(child: ChildProcess, { url, logFile }: { readonly url: string; readonly logFile: string }): ArgosyProcess {
  const exited = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  let end: number | string | undefined;
  void exited.then((how) => {
    end = how;
  });
  return {
    url,
    pid: child.pid ?? -1,
    logFile,
    exited,
    async ready(signal) {
      while (!(await answers(`${url}/readyz`))) {
        if (end !== undefined) throw new Error(`Argosy ended with ${end}:\n${tail(logFile)}`);
        if (signal.aborted) throw new Error(`Argosy is not ready; its log ends:\n${tail(logFile)}`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    async stop() {
      child.kill("SIGTERM");
      const force = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await exited;
      clearTimeout(force);
    },
    kill: (name) => void child.kill(name),
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
