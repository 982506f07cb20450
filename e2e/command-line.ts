import { execFile, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runCommand, type Seen } from "../src/cli/testing/run-command.ts";
import type { World } from "./world.ts";

const ENTRY = join(dirname(fileURLToPath(import.meta.url)), "../src/cli/argosy.ts");
const TIMEOUT_MS = 300_000;

/** How to reach the first control plane, with an operator's token. */
const environment = ({ harness }: World) => ({ ARGOSY_URL: harness.argosyUrls[0] ?? "", ARGOSY_TOKEN: harness.token });

/** Runs an `argosy` command against the fleet, within this process. */
export const argosy = (world: World, ...args: readonly string[]): Promise<Seen> => runCommand(args, environment(world));

/** The same in its own process, as a shell would. */
export function argosyProcess(world: World, ...args: readonly string[]): Promise<Seen> {
  const env = { PATH: process.env["PATH"] ?? "", ...environment(world) };
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [ENTRY, ...args], { env, timeout: TIMEOUT_MS, maxBuffer: 2 ** 24 }, (error, out, err) => {
      if (child.exitCode === null) reject(new Error(`argosy ${args.join(" ")} did not end`, { cause: error }));
      else resolve({ out, err, code: child.exitCode });
    });
  });
}

/** A command that runs until it is stopped. */
export interface Started {
  /** What it has printed so far, and its exit code once it has ended. */
  seen(): Omit<Seen, "code"> & { readonly code: number | undefined };
  /** Sends it the signal and waits for its end; it may have ended before. Returns what it printed, and its exit code. */
  end(signal: "SIGINT" | "SIGTERM"): Promise<Seen>;
}

/** Starts a command in its own process. */
export function startArgosy(env: Readonly<Record<string, string>>, ...args: readonly string[]): Started {
  const child = spawn(process.execPath, [ENTRY, ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const seen = { out: "", err: "" };
  let ending: number | undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (seen.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (seen.err += text));
  const ended = new Promise<Seen>((resolve) => {
    child.on("close", (code) => {
      ending = code ?? -1;
      resolve({ ...seen, code: ending });
    });
  });
  return {
    seen: () => ({ ...seen, code: ending }),
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** The answer of a command that has to succeed, as JSON. */
export async function answerOf<T>(world: World, args: readonly string[]): Promise<T> {
  const { out, err, code } = await argosy(world, ...args, "-o", "json");
  if (code !== 0) throw new Error(`argosy ${args.join(" ")} ended with ${code}: ${err}`);
  return JSON.parse(out) as T;
}

/** What a command printed, as one line: sentences are wrapped to the width of a terminal. */
export const inOneLine = (out: string): string => out.replace(/\s+/g, " ").trim();
