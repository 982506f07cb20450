import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { UnavailableError } from "../../../src/domain/errors.ts";

const execute = promisify(execFile);
const LONGEST_OUTPUT = 64 * 1024 * 1024;

/** Runs a program and returns its output. Throws `UnavailableError` with the last line that it complained with, or the signal's reason. */
export async function run(
  program: string,
  args: readonly string[],
  signal?: AbortSignal,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  try {
    const options = { maxBuffer: LONGEST_OUTPUT, env: { ...process.env, ...env }, ...(signal === undefined ? {} : { signal }) };
    return (await execute(program, [...args], options)).stdout;
  } catch (cause) {
    signal?.throwIfAborted();
    const { stderr = "", message } = cause as Error & { readonly stderr?: string };
    const complaint = stderr.trim().split("\n").at(-1) || message.split("\n")[0];
    throw new UnavailableError(`Running ${program} ${args.join(" ").slice(0, 120)}: ${complaint}`, { code: "dev.command", cause });
  }
}
