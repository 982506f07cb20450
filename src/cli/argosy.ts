import process from "node:process";
import { Command, CommanderError } from "commander";
import { errorText } from "./error-text.ts";
import { exitCodeOf } from "./exit-code.ts";
import { addFilterCommand } from "./filter-command.ts";
import { Interruption, type Terminal } from "./terminal.ts";

/** What a person should know beside what was asked for. */
let note = (text: string): void => void process.stderr.write(`argosy: ${text}\n`);

const terminal: Omit<Terminal, "version"> = {
  env: process.env,
  write: (text) => void process.stdout.write(`${text}\n`),
  note: (text) => note(text),
  setExitCode: (code) => {
    process.exitCode = code;
  },
  interrupted() {
    const ending = new AbortController();
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => ending.abort(new Interruption(name)));
    return ending.signal;
  },
};

/** The filter has memory for itself alone, beside each instance: nothing of the other commands is loaded for it. */
function filterProgram(): Command {
  const program = new Command("argosy").exitOverride();
  addFilterCommand(program, { ...terminal, version: "" });
  return program;
}

async function wholeProgram(): Promise<Command> {
  const [{ argosyVersion }, { createProgram }, { logLines, sentences }] = await Promise.all([
    import("../config.ts"),
    import("./program.ts"),
    import("./table.ts"),
  ]);
  note = (text) => void process.stderr.write(`${(process.stderr.isTTY ? sentences : logLines)(`argosy: ${text}`)}\n`);
  return createProgram({ ...terminal, version: argosyVersion });
}

// A reader that goes away (`argosy get … | head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  const program = process.argv[2] === "filter" ? filterProgram() : await wholeProgram();
  await program.parseAsync(process.argv);
} catch (error) {
  // Commander has said already what it found wrong.
  if (!(error instanceof CommanderError)) note(errorText(error));
  process.exitCode = exitCodeOf(error);
}
