import { CommanderError } from "commander";
import { InputError, RefusedError } from "../domain/errors.ts";

/** What was typed, or the environment it was typed in, is wrong, whoever says so: this program, or the server that was asked. */
const USAGE: readonly string[] = [
  "api.ambiguous-id",
  "api.bad-character",
  "api.invalid-request",
  "api.schedule",
  "cli.certificate-authority",
  "cli.key-service",
  "cli.login-name",
  "cli.no-connection",
  "cli.no-database",
  "cli.no-keys",
  "cli.no-state",
  "cli.option",
  "cli.resource",
  "cli.token-name",
  "cli.token-scope",
  "cli.unreadable",
  "cli.url",
  "plan.goal",
];

/** 0 when help or version was asked for, 2 when the command was used wrongly, 1 when it failed. */
export function exitCodeOf(error: unknown): 0 | 1 | 2 {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return (error instanceof InputError || error instanceof RefusedError) && USAGE.includes(error.code) ? 2 : 1;
}
