import { type Command, InvalidArgumentError } from "commander";
import type { TokenView } from "../api/schema.ts";
import { InputError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import { TOKEN_ROLES, type TokenRole } from "../store/token/port.ts";
import { age, timeLeft, timeText } from "./age.ts";
import { secondsOf } from "./duration.ts";
import { isForPrograms, type OutputFormat, render, renderOne } from "./output.ts";
import { remote } from "./remote.ts";
import type { Column } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { findTokens, type TokenPlaceOptions } from "./token.ts";

type TokenOptions = TokenPlaceOptions & { readonly output: OutputFormat };
interface NewTokenOptions extends TokenOptions {
  readonly role: TokenRole;
  readonly class?: readonly string[];
  readonly workspace?: readonly string[];
  readonly owner?: string;
  readonly expires?: string;
  /** False where --no-end was given. */
  readonly end: boolean;
}

export const tokenColumns: readonly Column<TokenView>[] = [
  { title: "NAME", value: (token) => token.name, fit: "name" },
  { title: "ROLE", value: (token) => token.role },
  { title: "OWNER", value: (token) => token.owner, fit: "name" },
  { title: "STATE", value: (token) => token.state },
  { title: "ENDS IN", value: (token) => (token.expiresAt === null ? "never" : timeLeft(token.expiresAt)), isClock: true },
  { title: "USED", value: (token) => age(token.lastUsedAt), isClock: true },
  { title: "LIMITED TO", value: limitsOf, fit: "text" },
  { title: "ENDS", value: (token) => timeText(token.expiresAt), isWide: true },
  { title: "MADE", value: (token) => timeText(token.createdAt), isWide: true },
  { title: "BY", value: (token) => token.createdBy, isWide: true },
  { title: "REVOKED", value: (token) => timeText(token.revokedAt), isWide: true },
];

/** Commands that say who may ask. */
export function addTokenCommands(program: Command, terminal: Terminal): void {
  const token = program.command("token").description("tokens of the REST API: at a server, with an approver's token, or in the database");
  const at = (command: Command, formats: readonly OutputFormat[]) =>
    remote(command, formats).option("--database <url>", "in this database (default: the server; without one DATABASE_URL)");
  at(token.command("create <name>"), ["table", "json", "yaml"])
    .description("make a token and print it once; replaces the one of that name")
    .requiredOption("--role <role>", TOKEN_ROLES.join(", "), roleOf)
    .option("--class <key>", "limit the role to a class, e.g. eu/shared/public; may be repeated", another)
    .option("--workspace <namespace>", "limit the role to a workspace, or with * at the end to several; may be repeated", another)
    .option("--owner <text>", "whom to ask about it (default: whoever makes it)")
    .option("--expires <time>", "when it ends, e.g. 12h, 30d (default: 90d)")
    .option("--no-end", "let it never end")
    .action(async (name: string, options: NewTokenOptions) => {
      const { role, owner, output } = options;
      const request = { name, role, scope: scopeOf(options), owner, expiresInSeconds: lifetimeOf(options) };
      const made = await findTokens(options, terminal.env).create(request);
      terminal.write(isForPrograms(output) ? renderOne(made, output) : made.token);
      if (!isForPrograms(output))
        terminal.note(`token ${name} ${made.expiresAt === null ? "never ends" : `ends ${timeText(made.expiresAt)}`}`);
    });
  at(token.command("list"), ["table", "wide", "json", "yaml"])
    .description("names, roles, owners, ends and last uses; what a token is cannot be read again")
    .option("--all", "also those that ended or were revoked within the last month")
    .action(async (options: TokenOptions & { readonly all?: true }) => {
      const found = await findTokens(options, terminal.env).list();
      const shown = options.all === true ? found : found.filter(({ state }) => state === "active");
      terminal.write(render(shown, tokenColumns, options.output));
    });
  at(token.command("revoke <name>").alias("delete"), ["table", "json", "yaml"])
    .description("refuse a token from now on (a server may accept it for five seconds more)")
    .action(async (name: string, options: TokenOptions) => {
      await findTokens(options, terminal.env).revoke(name);
      if (isForPrograms(options.output)) terminal.write(renderOne({ token: name, revoked: true }, options.output));
      else terminal.note(`token ${name} revoked`);
    });
}

const another = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

function scopeOf({ class: classes, workspace: workspaces }: NewTokenOptions): Scope | undefined {
  if (classes === undefined && workspaces === undefined) return undefined;
  return { ...(classes === undefined ? {} : { classes }), ...(workspaces === undefined ? {} : { workspaces }) };
}

function limitsOf({ scope }: TokenView): string {
  return scope === null ? "" : [...(scope.workspaces ?? []), ...(scope.classes ?? [])].join(", ");
}

function lifetimeOf({ expires, end }: NewTokenOptions): number | null | undefined {
  if (expires === undefined) return end ? undefined : null;
  if (end) return secondsOf(expires, "--expires");
  throw new InputError("says when the token ends, and --no-end that it does not", {
    code: "cli.option",
    path: "--expires",
    remedy: "Give one of the two",
  });
}

function roleOf(text: string): TokenRole {
  const role = TOKEN_ROLES.find((name) => name === text);
  if (role === undefined) throw new InvalidArgumentError(`Use one of ${TOKEN_ROLES.join(", ")}.`);
  return role;
}
