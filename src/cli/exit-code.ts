import { CommanderError } from "commander";
import { InputError } from "../domain/errors.ts";

/** What was typed, or the environment it was typed in, is wrong; nothing was asked of anybody. */
const USAGE: readonly string[] = [
  "cli.no-connection",
  "cli.no-database",
  "cli.no-keys",
  "cli.no-state",
  "cli.option",
  "cli.resource",
  "cli.token-name",
  "cli.unreadable",
  "cli.url",
];

/** 0 when help or version was asked for, 2 when the command was used wrongly, 1 when it failed. */
export function exitCodeOf(error: unknown): 0 | 1 | 2 {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof InputError && USAGE.includes(error.code) ? 2 : 1;
}
