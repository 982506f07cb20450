import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../domain/errors.ts";

/** How the command line reaches a fleet's REST API. */
export interface Connection {
  readonly url: string;
  readonly token: string;
}

export interface ConnectionOptions {
  readonly state?: string;
  readonly url?: string;
  readonly token?: string;
}

/** Where `npm run up` keeps its state when nobody says otherwise, relative to the working directory. */
export const DEFAULT_STATE = ".argosy";

/**
 * Flags win over ARGOSY_URL and ARGOSY_TOKEN, those over the `env` file of the state directory. Throws `InputError` naming
 * all three ways when none of them leads anywhere.
 */
export function findConnection(options: ConnectionOptions, env: Readonly<Record<string, string | undefined>>): Connection {
  const file = readEnvFile(join(options.state ?? env["ARGOSY_STATE"] ?? DEFAULT_STATE, "env"), options.state !== undefined);
  const url = options.url ?? env["ARGOSY_URL"] ?? file["ARGOSY_URL"];
  const token = options.token ?? env["ARGOSY_TOKEN"] ?? file["ARGOSY_TOKEN"];
  if (url !== undefined && token !== undefined) return { url: url.replace(/\/+$/, ""), token };
  throw new InputError(url === undefined ? "no fleet to talk to" : `no token for ${url}`, {
    code: "cli.no-connection",
    path: url === undefined ? "ARGOSY_URL" : "ARGOSY_TOKEN",
    remedy: "Run this beside a running `npm run up` (or name its directory with --state DIR), or set ARGOSY_URL and ARGOSY_TOKEN",
  });
}

/** Lines `NAME=value`; comments and blank lines are skipped. */
export function parseEnvFile(text: string): Readonly<Record<string, string>> {
  const pairs = text.split("\n").flatMap((line) => {
    const match = /^\s*([A-Z][A-Z0-9_]*)=(.*)$/.exec(line);
    return match?.[1] === undefined || match[2] === undefined ? [] : [[match[1], match[2].trim()] as const];
  });
  return Object.fromEntries(pairs);
}

function readEnvFile(path: string, isRequired: boolean): Readonly<Record<string, string>> {
  try {
    return parseEnvFile(readFileSync(path, "utf8"));
  } catch (cause) {
    if (!isRequired) return {};
    throw new InputError(`no running fleet left its address in ${path}`, {
      code: "cli.no-state",
      path: "--state",
      remedy: "Name the directory that `npm run up --state DIR` was given",
      cause,
    });
  }
}
