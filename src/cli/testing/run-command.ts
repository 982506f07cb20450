import { join } from "node:path";
import { errorText } from "../error-text.ts";
import { exitCodeOf } from "../exit-code.ts";
import { createProgram } from "../program.ts";

export interface Seen {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** A directory that is not there: what a running `npm run up` left in the working directory is nothing to a test. */
const NO_STATE = join(import.meta.dirname, "no-state");

/** Runs a command as the entry does and returns what a person and a script would see. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  interrupted = new AbortController().signal,
): Promise<Seen> {
  const seen = { out: "", err: "", code: 0 };
  const program = createProgram({
    ...{ env: { ARGOSY_STATE: NO_STATE, ...env }, version: "0.9.0" },
    write: (text) => (seen.out += `${seen.out === "" ? "" : "\n"}${text}`),
    note: (text) => (seen.err += text),
    setExitCode: (code) => (seen.code = code),
    interrupted: () => interrupted,
  });
  for (const command of [program, ...program.commands]) command.configureOutput({ writeErr: (text) => (seen.err += text) });
  await program.parseAsync(args, { from: "user" }).catch((error: unknown) => {
    seen.err += errorText(error);
    seen.code = exitCodeOf(error);
  });
  return seen;
}
