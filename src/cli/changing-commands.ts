import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../domain/errors.ts";
import { systemClock } from "../runtime/clock.ts";
import { TOKEN_ROLES, type TokenRole } from "../store/token/port.ts";
import { type ApplyPlanOptions, applyFleet, parseFleetText } from "./apply.ts";
import { findDatabase } from "./connection.ts";
import { DATABASE_TOKEN, type DatabaseTokenOptions, withClient } from "./database-token.ts";
import { readText } from "./input-file.ts";
import { type OutputFormat, render } from "./output.ts";
import { applyPlan } from "./plan.ts";
import { addStateOption, clientOf, type RemoteOptions, remote } from "./remote.ts";
import type { Column } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { createToken, deleteToken, listTokens } from "./token.ts";
import { tryUntil } from "./try-until.ts";

type ApplyOptions = RemoteOptions & ApplyPlanOptions & DatabaseTokenOptions & { readonly file?: string; readonly wait?: string };

/** Commands that change what is declared or who may ask. */
export function addChangingCommands(program: Command, terminal: Terminal): void {
  remote(program.command("apply [plan]"), ["table", "json", "yaml"])
    .description("declare the fleet, or carry out a plan, and say what that changed")
    .option("-f, --file <file>", "declare fleet.yaml, or - for standard input")
    .option("--dry-run", "change nothing: check the document and say what it would change", false)
    .option("--prune", "let the instances of pools go that the file leaves out; shows them first", false)
    .option("-y, --yes", "carry out what --prune shows", false)
    .option(...DATABASE_TOKEN)
    .option("--wait <time>", "how long to wait for a server that does not answer yet, such as 5m; for a document (default: not at all)")
    .action(async (plan: string | undefined, options: ApplyOptions) => {
      const { file } = options;
      if ((plan === undefined) === (file === undefined)) throw applyWhat();
      if (plan !== undefined) return carryOut(plan, options, terminal);
      const document = parseFleetText(readText(file ?? ""), file ?? "");
      const { text, isDone } = await tryUntil(
        { wait: options.wait, clock: systemClock, terminal },
        () => withClient(options, "operator", terminal, (client) => applyFleet(client, document, options)),
        () => true,
      );
      terminal.write(text);
      if (isDone) return;
      terminal.note("nothing was changed: repeat it with --yes to carry this out");
      terminal.setExitCode(1);
    });
  addToken(program.command("token").description("tokens of the REST API, written to the database"), terminal);
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
    ["--database-token", options.databaseToken === true],
  ] as const;
  const [idle] = ofDocuments.find(([, isGiven]) => isGiven) ?? [];
  if (idle !== undefined)
    throw new InputError("says nothing about a plan", { code: "cli.option", path: idle, remedy: "`argosy explain plan/ID` shows it" });
  const { text, isDone } = await applyPlan(clientOf(options, terminal), plan, options.output);
  terminal.write(text);
  if (!isDone) terminal.setExitCode(1);
}

interface TokenCommandOptions {
  readonly database?: string;
  readonly state?: string;
}

export const changeColumns: readonly Column<{ readonly name: string; readonly role: TokenRole }>[] = [
  { title: "NAME", value: (token) => token.name, fit: "name" },
  { title: "ROLE", value: (token) => token.role },
];

function addToken(token: Command, terminal: Terminal): void {
  const withDatabase = (command: Command) =>
    addStateOption(command.option("--database <url>", "connection string (default: DATABASE_URL)"));
  withDatabase(token.command("create <name>"))
    .description("make a token and print it once; replaces the one of that name")
    .requiredOption("--role <role>", TOKEN_ROLES.join(", "), roleOf)
    .action(async (name: string, options: TokenCommandOptions & { readonly role: TokenRole }) => {
      const database = findDatabase(options, terminal.env);
      terminal.write(await createToken({ name, role: options.role, database }));
    });
  withDatabase(token.command("list"))
    .description("names and roles; what a token is cannot be read again")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["table", "wide", "json", "yaml"]).default("table"))
    .action(async (options: TokenCommandOptions & { readonly output: OutputFormat }) =>
      terminal.write(render(await listTokens(findDatabase(options, terminal.env)), changeColumns, options.output)),
    );
  withDatabase(token.command("delete <name>"))
    .description("refuse a token from now on (a server may accept it for five seconds more)")
    .action(async (name: string, options: TokenCommandOptions) => {
      await deleteToken(findDatabase(options, terminal.env), name);
      terminal.note(`token ${name} deleted`);
    });
}

function roleOf(text: string): TokenRole {
  const role = TOKEN_ROLES.find((name) => name === text);
  if (role === undefined) throw new InvalidArgumentError(`Use one of ${TOKEN_ROLES.join(", ")}.`);
  return role;
}
