import { spawn } from "node:child_process";
import { killGroup } from "../../../runtime/kill-group.ts";

export interface GitRun {
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly deadlineMs: number;
}

export type GitEnd =
  /** `exitCode` is absent when a signal ended it. */
  | { readonly kind: "ended"; readonly exitCode: number | undefined; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "too-late" }
  | { readonly kind: "too-much" };

/** What one run may print of each kind, in bytes. A probe asks for one line. */
const OUTPUT_AT_MOST = 65_536;

/**
 * Bounds that hold for git and whatever it starts: no core dumps (secrets would be in them), files of a megabyte, 384 megabytes
 * of addresses, 20 s of processor. A shell sets them, since Node.js cannot; nothing of a user's is read by it.
 */
const LIMITS = 'ulimit -c 0; ulimit -f 2048; ulimit -v 393216; ulimit -t 20; exec git "$@"';

/** Runs git in a process group of its own, which ends as a whole: at its end, its deadline, too much output, or the signal. */
export async function runGit({ args, env, cwd, deadlineMs }: GitRun, signal: AbortSignal): Promise<GitEnd> {
  signal.throwIfAborted();
  const child = spawn("/bin/sh", ["-c", LIMITS, "git", ...args], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const kill = (): void => killGroup(child);
  const [out, err] = [collect(child.stdout, kill), collect(child.stderr, kill)];
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, deadlineMs);
  signal.addEventListener("abort", kill, { once: true });
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    signal.throwIfAborted();
    if (isLate) return { kind: "too-late" };
    if (out.isTooMuch() || err.isTooMuch()) return { kind: "too-much" };
    return { kind: "ended", exitCode: exitCode ?? undefined, stdout: out.text(), stderr: err.text() };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", kill);
    kill();
  }
}

function collect(stream: NodeJS.ReadableStream, onTooMuch: () => void) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= OUTPUT_AT_MOST) chunks.push(chunk);
    else onTooMuch();
  });
  return { text: () => Buffer.concat(chunks).toString("utf8"), isTooMuch: () => bytes > OUTPUT_AT_MOST };
}
