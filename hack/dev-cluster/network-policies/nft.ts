import { spawn } from "node:child_process";
import { once } from "node:events";
import { UnavailableError } from "../../../src/domain/errors.ts";
import { ENTRY_CHAIN, TABLE } from "./render-rules.ts";

/** The kernel's table of policies in one network namespace. */
export interface PolicyTable {
  /** Puts rules in place of what is there, all at once. Throws `UnavailableError` with what nft says; what was there then stays. */
  load(script: string, signal: AbortSignal): Promise<void>;
  /** Whether the table is there. Throws `UnavailableError` where that cannot be found out. */
  isLoaded(signal: AbortSignal): Promise<boolean>;
}

/** How much of what nft says goes into an error, in characters: for each rule it refuses, it repeats the rule. */
const LONGEST_COMPLAINT = 600;
const timeoutMs = 30_000;

/** The table that nft(8) reaches when it is run with `prefix` before it, such as `["nsenter", "--net=/run/netns/node-1"]`. */
export function createPolicyTable(prefix: readonly string[]): PolicyTable {
  return {
    async load(script, signal) {
      const { code, complaint } = await run([...prefix, "nft", "-f", "-"], script, signal);
      if (code !== 0) throw refusal("Loading the rules of network policies", complaint);
    },
    async isLoaded(signal) {
      const { code, complaint } = await run([...prefix, "nft", "list", "chain", "inet", TABLE, ENTRY_CHAIN], "", signal);
      if (code === 0) return true;
      if (complaint.startsWith("Error: No such file or directory")) return false;
      throw refusal("Reading the rules of network policies", complaint);
    },
  };
}

function refusal(doing: string, complaint: string): UnavailableError {
  return new UnavailableError(`${doing}: ${complaint.trim().slice(0, LONGEST_COMPLAINT)}`, { code: "dev.nft" });
}

/** Runs a program to its end. Throws `UnavailableError` if it does not start or takes too long, and the signal's reason when that aborts. */
async function run([program = "", ...args]: readonly string[], input: string, signal: AbortSignal) {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const child = spawn(program, args, { stdio: ["pipe", "ignore", "pipe"], env: { ...process.env, LC_ALL: "C" }, signal: limit });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint += text;
  });
  // A program that ends without reading closes the pipe; its exit code says what happened.
  child.stdin.on("error", () => undefined).end(input);
  try {
    const [code, killedBy] = (await once(child, "close")) as [number | null, string | null];
    return { code, complaint: complaint || `${program} ended with ${killedBy ?? code}` };
  } catch (cause) {
    signal.throwIfAborted();
    throw new UnavailableError(`Running ${program} for network policies`, { code: "dev.nft", cause });
  }
}
