import { execFile } from "node:child_process";
import process from "node:process";

/** What a program said and how it ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program to its end, whatever that is. */
export function runProgram(
  program: string,
  args: readonly string[],
  { env = {}, signal, input }: { readonly env?: Readonly<Record<string, string>>; readonly signal: AbortSignal; readonly input?: string },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...args],
      { env: { ...process.env, ...env }, signal, maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => {
        const code = error === null ? 0 : error.code;
        if (typeof code === "number") resolve({ code, out, err });
        else reject(new Error(`${program} could not be run`, { cause: error }));
      },
    );
    if (input !== undefined) child.stdin?.end(input);
  });
}

/** The same for one that has to succeed: returns what it said, and fails with what it complained of. */
export async function mustRun(...[program, args, options]: Parameters<typeof runProgram>): Promise<string> {
  const { code, out, err } = await runProgram(program, args, options);
  if (code === 0) return out;
  throw new Error(`${program} ${args.join(" ")} ended with ${code}: ${err.trim()}\n${out.trim()}`);
}
