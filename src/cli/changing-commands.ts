import { type Command, InvalidArgumentError } from "commander";
import { TOKEN_ROLES, type TokenRole } from "../store/token/port.ts";
import { applyFleet, parseFleetText } from "./apply.ts";
import { findDatabase } from "./connection.ts";
import { readText } from "./input-file.ts";
import { type Column, render } from "./output.ts";
import { addStateOption, clientOf, type RemoteOptions, remote } from "./remote.ts";
import type { Terminal } from "./terminal.ts";
import { createToken, deleteToken, listTokens } from "./token.ts";

/** Commands that change what is declared or who may ask. */
export function addChangingCommands(program: Command, terminal: Terminal): void {
  remote(program.command("apply"), ["table", "json", "yaml"])
    .description("declare the fleet, and say what that changed")
    .requiredOption("-f, --file <file>", "fleet.yaml, or - for standard input")
    .option("--dry-run", "change nothing: check the document and say what it would change", false)
    .action(async (options: RemoteOptions & { readonly file: string; readonly dryRun: boolean }) => {
      const document = parseFleetText(readText(options.file), options.file);
      terminal.write(await applyFleet(clientOf(options, terminal), document, options));
    });
  addToken(program.command("token").description("tokens of the REST API, written to the database"), terminal);
}

interface TokenCommandOptions {
  readonly database?: string;
  readonly state?: string;
}

const columns: readonly Column<{ readonly name: string; readonly role: TokenRole }>[] = [
  { title: "NAME", value: (token) => token.name },
  { title: "ROLE", value: (token) => token.role },
];

function addToken(token: Command, terminal: Terminal): void {
  const withDatabase = (command: Command) =>
    addStateOption(command.option("--database <url>", "connection string (default: DATABASE_URL)"));
  withDatabase(token.command("create <name>"))
    .description("make a token and print it once; replaces the one of that name")
    .option("--role <role>", TOKEN_ROLES.join(", "), roleOf, "viewer" as TokenRole)
    .action(async (name: string, options: TokenCommandOptions & { readonly role: TokenRole }) => {
      const database = findDatabase(options, terminal.env);
      terminal.write(await createToken({ name, role: options.role, database }));
    });
  withDatabase(token.command("list"))
    .description("names and roles; what a token is cannot be read again")
    .action(async (options: TokenCommandOptions) =>
      terminal.write(render(await listTokens(findDatabase(options, terminal.env)), columns, "table")),
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
