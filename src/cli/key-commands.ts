import { type Command, Option } from "commander";
import { findDatabase } from "./connection.ts";
import { readText } from "./input-file.ts";
import { generateKey, type KeyOptions, type KeyRow, listKeys, type Rotation, rotateKeys } from "./keys.ts";
import { type OutputFormat, render, renderOne } from "./output.ts";
import { addStateOption } from "./remote.ts";
import { allowedDatabase, readConfig } from "./serve.ts";
import type { Column } from "./table.ts";
import type { Terminal } from "./terminal.ts";

interface KeyCommandOptions {
  readonly config: string;
  readonly database?: string;
  readonly state?: string;
  readonly output: OutputFormat;
}

export const keyColumns: readonly Column<KeyRow>[] = [
  { title: "KEY", value: (row) => row.key, fit: "name" },
  { title: "CURRENT", value: (row) => (row.isCurrent ? "yes" : "no") },
  { title: "GIVEN", value: (row) => (row.isGiven ? "yes" : "NO") },
  { title: "CREDENTIALS", value: (row) => row.credentials },
];

/** Commands for the keys that stored credentials are wrapped by. They speak to the database, with the servers' own configuration. */
export function addKeyCommands(program: Command, terminal: Terminal): void {
  const keys = program.command("keys").description("keys that stored credentials are wrapped by");
  addGenerate(keys, terminal);
  const withKeys = (command: Command) =>
    addStateOption(
      command
        .requiredOption("-c, --config <file>", "the servers' configuration file, which names the keys")
        .option("--database <url>", "connection string (default: the file's, or DATABASE_URL)")
        .addOption(new Option("-o, --output <format>", "how to show it").choices(["table", "json", "yaml"]).default("table")),
    );
  withKeys(keys.command("list"))
    .description("which keys are given, which is current, and how many credentials each wraps")
    .action(async (options: KeyCommandOptions) =>
      terminal.write(render(await listKeys(keysOf(options, terminal)), keyColumns, options.output)),
    );
  withKeys(keys.command("rotate"))
    .description("wrap every stored credential under the current key; exit code 1 if one cannot be opened")
    .option("--data-keys", "encrypt every credential anew with another data key too: after a key and a copy of the database were stolen")
    .action(async (options: KeyCommandOptions & { readonly dataKeys?: boolean }) => {
      const { dataKeys = false } = options;
      const tell = (done: number, of: number): void =>
        terminal.note(`${done} of ${of} credentials ${dataKeys ? "encrypted" : "wrapped"} anew`);
      const rotation = await rotateKeys({ ...keysOf(options, terminal), dataKeys }, tell);
      terminal.write(options.output === "table" ? render(rotation.keys, keyColumns, "table") : renderOne({ ...rotation }, options.output));
      remark(rotation, terminal);
      if (rotation.unreadable.length > 0) terminal.setExitCode(1);
    });
}

interface GenerateOptions {
  readonly address: string;
  readonly mount: string;
  readonly key: string;
  readonly tokenFile: string;
  readonly namespace?: string;
  readonly certificateAuthority?: string;
  readonly output: OutputFormat;
}

function addGenerate(keys: Command, terminal: Terminal): void {
  keys
    .command("generate")
    .description("have a Vault make a key and wrap it; prints what `encryption.keys` takes, which is no secret")
    .requiredOption("--address <url>", "address of the Vault server, or of one that speaks its protocol")
    .option("--mount <path>", "path of its transit engine", "transit")
    .requiredOption("--key <name>", "name of the key there that wraps")
    .requiredOption("--token-file <file>", "file with a token that may make data keys with it")
    .option("--namespace <path>", "namespace of the server, where it has such")
    .option("--certificate-authority <file>", "authorities, in PEM, that are trusted beside the public ones")
    .addOption(new Option("-o, --output <format>", "how to show it").choices(["yaml", "json"]).default("yaml"))
    .action(async ({ certificateAuthority, output, ...typed }: GenerateOptions) => {
      const place = { ...typed, ...(certificateAuthority === undefined ? {} : { certificateAuthorityFile: certificateAuthority }) };
      terminal.write(renderOne({ vault: { ...place, wrapped: await generateKey(place) } }, output));
    });
}

function keysOf(options: KeyCommandOptions, { env }: Terminal): KeyOptions {
  const config = readConfig({ text: readText(options.config), config: options.config }, env);
  const database = options.database ?? (options.state === undefined ? config.database.url : undefined);
  return { config, env, database: allowedDatabase(config, database ?? findDatabase(options, env), options.config) };
}

function remark({ current, keys, unreadable }: Rotation, terminal: Terminal): void {
  for (const { id, keyId, why } of unreadable) terminal.note(`credential ${id}, wrapped by ${keyId}, stays as it is: ${why}`);
  const idle = keys.filter(({ isCurrent, isGiven, credentials }) => !isCurrent && isGiven && credentials === 0).map(({ key }) => key);
  if (idle.length > 0)
    terminal.note(
      `nothing is wrapped by ${idle.join(", ")} now; take it out of the configuration once every server was started with ${current} as its current key and \`argosy keys list\` still says so`,
    );
}
