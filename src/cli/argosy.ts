import process from "node:process";
import { CommanderError } from "commander";
import { argosyVersion } from "../config.ts";
import { errorText } from "./error-text.ts";
import { exitCodeOf } from "./exit-code.ts";
import { createProgram } from "./program.ts";
import { logLines, sentences } from "./table.ts";
import { Interruption } from "./terminal.ts";

/** What a person should know beside what was asked for. */
const note = (text: string): void => {
  const shown = process.stderr.isTTY ? sentences : logLines;
  process.stderr.write(`${shown(`argosy: ${text}`)}\n`);
};

const program = createProgram({
  env: process.env,
  version: argosyVersion,
  write: (text) => void process.stdout.write(`${text}\n`),
  note,
  setExitCode: (code) => {
    process.exitCode = code;
  },
  interrupted() {
    const ending = new AbortController();
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => ending.abort(new Interruption(name)));
    return ending.signal;
  },
});

// A reader that goes away (`argosy get … | head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  await program.parseAsync(process.argv);
} catch (error) {
  // Commander has said already what it found wrong.
  if (!(error instanceof CommanderError)) note(errorText(error));
  process.exitCode = exitCodeOf(error);
}
