import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A process as it can be told apart from another one that later gets the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; equal for the same process only. */
  readonly startedAt: string;
  readonly command: readonly string[];
}

/** Reads a process's identity; `undefined` when there is none, or only its remains that nobody has collected (a zombie). */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  if (!exists(pid)) return undefined;
  return process.platform === "linux" ? identifyByProc(pid) : identifyByPs(pid);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // EPERM: it exists and belongs to somebody else.
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function identifyByProc(pid: number): Promise<ProcessIdentity | undefined> {
  try {
    const [stat, commandLine] = await Promise.all([readFile(`/proc/${pid}/stat`, "utf8"), readFile(`/proc/${pid}/cmdline`, "utf8")]);
    // The second field is the name in parentheses and may itself hold spaces and parentheses; proc(5).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, startedAt] = [fields[0], fields[19]];
    if (state === "Z" || state === "X" || startedAt === undefined) return undefined;
    return { pid, startedAt, command: commandLine.split("\0").filter((argument) => argument !== "") };
  } catch {
    return undefined;
  }
}

async function identifyByPs(pid: number): Promise<ProcessIdentity | undefined> {
  try {
    const { stdout } = await run("ps", ["-ww", "-o", "stat=,lstart=,command=", "-p", String(pid)], {
      env: { PATH: process.env["PATH"], LC_ALL: "C" },
    });
    const match = /^\s*(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/m.exec(stdout);
    if (match === null || match[1]?.startsWith("Z")) return undefined;
    return { pid, startedAt: match[2] ?? "", command: (match[3] ?? "").trim().split(/\s+/) };
  } catch {
    return undefined;
  }
}

/**
 * Whether the process is a PostgreSQL server that was started with exactly this data directory. The arguments are compared as
 * one text because `ps` gives no more than that; the server is always started with `-D` as its first argument.
 */
export function isServerOf(dataDir: string, candidate: ProcessIdentity): boolean {
  return `${candidate.command.join(" ")} `.includes(`/postgres -D ${dataDir} `);
}
