import { spawn } from "node:child_process";
import process from "node:process";
import { InputError, UnavailableError } from "../../src/domain/errors.ts";

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** What errors call it, where its first argument does not say what it does. */
  readonly name?: string;
}

/** Lines of what a program printed that its error repeats. */
const LINES_OF_REASON = 12;

/**
 * Runs a program to its end and answers what it printed on standard output. It runs in a process group of its own, which is ended as a whole
 * with the signal. Raises InputError when it is not installed and UnavailableError with its last lines when it fails.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { name = `${program} ${args[0] ?? ""}`, ...options }: ProgramOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  const child = spawn(program, args, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const [out, all]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => [out, all].forEach((chunks) => chunks.push(chunk)));
  child.stderr.on("data", (chunk: Buffer) => all.push(chunk));
  const end = (): void => endGroup(child.pid);
  signal.addEventListener("abort", end, { once: true });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    signal.throwIfAborted();
    if (code === 0) return Buffer.concat(out);
    throw failed(name, Buffer.concat(all));
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).code === "ENOENT" ? missing(program, cause) : cause;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGTERM");
  } catch (cause) {
    // It ended by itself in this moment.
    if ((cause as NodeJS.ErrnoException).code !== "ESRCH") throw cause;
  }
}

function failed(name: string, output: Buffer): UnavailableError {
  const lines = output.toString("utf8").trim().split("\n").slice(-LINES_OF_REASON);
  return new UnavailableError(`running ${name}`, {
    code: "release.program",
    cause: new Error(`it said:\n${lines.join("\n")}`),
  });
}

function missing(program: string, cause: unknown): InputError {
  return new InputError(`${program} was not found`, {
    code: "release.no-program",
    path: "PATH",
    remedy: `Install ${program} (a Debian package of that name, or docs/release.md)`,
    cause,
  });
}
