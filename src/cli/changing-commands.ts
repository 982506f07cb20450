import type { Command } from "commander";
import { InputError } from "../domain/errors.ts";
import { systemClock } from "../runtime/clock.ts";
import { type ApplyPlanOptions, applyFleet, parseFleetText } from "./apply.ts";
import { DATABASE_TOKEN, type DatabaseTokenOptions, withClient } from "./database-token.ts";
import { readText } from "./input-file.ts";
import { applyPlan } from "./plan.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import type { Terminal } from "./terminal.ts";
import { tryUntil } from "./try-until.ts";

type ApplyOptions = RemoteOptions &
  ApplyPlanOptions &
  DatabaseTokenOptions & { readonly file?: string; readonly wait?: string; readonly mayWait?: true };

/** Exit code of a declaration that waits for a second person: nothing failed, and nothing is changed yet. */
const WAITS = 3;

/** Commands that change what is declared. */
export function addChangingCommands(program: Command, terminal: Terminal): void {
  remote(program.command("apply [plan]"), ["table", "json", "yaml"])
    .description("declare the fleet, or carry out a plan, and say what that changed")
    .option("-f, --file <file>", "declare fleet.yaml, or - for standard input")
    .option("--dry-run", "change nothing: check the document and say what it would change", false)
    .option("--prune", "let the instances of pools go that the file leaves out; shows them first", false)
    .option("-y, --yes", "carry out what --prune shows", false)
    .option("--may-wait", "end with exit code 0, not 3, where the document waits for a second person; for Jobs")
    .option(...DATABASE_TOKEN)
    .option("--wait <time>", "how long to wait for a server that does not answer yet, such as 5m; for a document (default: not at all)")
    .action(async (plan: string | undefined, options: ApplyOptions) => {
      const { file } = options;
      if ((plan === undefined) === (file === undefined)) throw applyWhat();
      await (plan === undefined ? declareFile(file ?? "", options, terminal) : carryOut(plan, options, terminal));
    });
}

async function declareFile(file: string, options: ApplyOptions, terminal: Terminal): Promise<void> {
  const document = parseFleetText(readText(file), file);
  const { text, state } = await tryUntil(
    { wait: options.wait, clock: systemClock, terminal },
    () => withClient(options, "operator", terminal, (client) => applyFleet(client, document, options)),
    () => true,
  );
  terminal.write(text);
  if (state === "proposed" && options.mayWait !== true) terminal.setExitCode(WAITS);
  if (state !== "shown") return;
  terminal.note("nothing was changed: repeat it with --yes to carry this out");
  terminal.setExitCode(1);
}

function applyWhat(): InputError {
  return new InputError("does not say what to apply, or says two things", {
    code: "cli.option",
    path: "apply",
    remedy: "Name a plan, or give a file with -f",
  });
}

async function carryOut(plan: string, options: ApplyOptions, terminal: Terminal): Promise<void> {
  const ofDocuments = [
    ["--dry-run", options.dryRun],
    ["--prune", options.prune],
    ["--wait", options.wait !== undefined],
    ["--may-wait", options.mayWait === true],
    ["--database-token", options.databaseToken === true],
  ] as const;
  const [idle] = ofDocuments.find(([, isGiven]) => isGiven) ?? [];
  if (idle !== undefined)
    throw new InputError("says nothing about a plan", { code: "cli.option", path: idle, remedy: "`argosy explain plan/ID` shows it" });
  const { text, isDone } = await applyPlan(clientOf(options, terminal), plan, options.output);
  terminal.write(text);
  if (!isDone) terminal.setExitCode(1);
}
