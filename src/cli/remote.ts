import { type Command, Option } from "commander";
import { type ConnectionOptions, DEFAULT_STATE, findConnection } from "./connection.ts";
import type { OutputFormat } from "./output.ts";
import { createRestClient, type RestClient } from "./rest-client.ts";
import type { Terminal } from "./terminal.ts";

/** Options of every command that speaks to a fleet. */
export interface RemoteOptions extends ConnectionOptions {
  readonly output: OutputFormat;
}

export function addStateOption(command: Command): Command {
  return command.option("--state <dir>", `directory of a fleet started with \`npm run up\` (default: ${DEFAULT_STATE})`);
}

/** Adds what every command takes that speaks to a fleet; the first of `formats` is the default. */
export function remote(command: Command, formats: readonly (OutputFormat | "csv")[]): Command {
  const output = new Option("-o, --output <format>", "how to print").choices(formats).default(formats[0]);
  return addStateOption(command.addOption(output))
    .option("--url <url>", "address of the REST API (default: ARGOSY_URL)")
    .option("--token <token>", "token of the REST API (default: ARGOSY_TOKEN)")
    .option("--token-file <file>", "file with the token, read anew for each request (default: ARGOSY_TOKEN_FILE)")
    .option("--insecure-plain-http", "send the token to another machine in plain HTTP (default: ARGOSY_INSECURE_PLAIN_HTTP)")
    .option("--certificate-authority <file>", "authorities (PEM) trusted beside the public ones (default: ARGOSY_CA)");
}

export function clientOf(options: ConnectionOptions, terminal: Terminal): RestClient {
  return createRestClient(findConnection(options, terminal.env));
}
