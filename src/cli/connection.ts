import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../domain/errors.ts";

/** How the command line reaches a fleet's REST API. */
export interface ServerConnection {
  readonly url: string;
  readonly token: string;
  /** Certificates in PEM of authorities that are trusted beside the public ones. */
  readonly authorities?: string;
}

export interface ConnectionOptions {
  readonly state?: string;
  readonly url?: string;
  readonly token?: string;
  /** A file. */
  readonly certificateAuthority?: string;
}

export type CliEnvironment = Readonly<Record<string, string | undefined>>;

/** Where `npm run up` keeps its state when nobody says otherwise, relative to the working directory. */
export const DEFAULT_STATE = ".argosy";

/**
 * What was typed wins over the environment: `--url` and `--token`, then the `env` file of `--state`, then ARGOSY_URL and
 * ARGOSY_TOKEN, then the `env` file of ARGOSY_STATE or of the usual state directory. The token of a state directory nobody
 * typed goes only to the address found there. The file with authorities is found in the same order, and may be named nowhere. Throws
 * `InputError` naming the ways when none of them leads anywhere.
 */
export function findConnection(options: ConnectionOptions, env: CliEnvironment): ServerConnection {
  const typed = options.state === undefined ? {} : readEnvFile(options.state, true);
  const url = options.url ?? typed["ARGOSY_URL"] ?? env["ARGOSY_URL"];
  const usual = url === undefined || url === usualState(env)["ARGOSY_URL"] ? usualState(env) : {};
  const address = url ?? usual["ARGOSY_URL"];
  const token = options.token ?? typed["ARGOSY_TOKEN"] ?? env["ARGOSY_TOKEN"] ?? usual["ARGOSY_TOKEN"];
  const names = [options.certificateAuthority, typed["ARGOSY_CA"], env["ARGOSY_CA"], usual["ARGOSY_CA"]];
  const file = names.find((name) => name !== undefined && name !== "");
  if (address !== undefined && token !== undefined)
    return { url: checkedUrl(address), token, ...(file === undefined ? {} : { authorities: readAuthorities(file) }) };
  throw new InputError(address === undefined ? "no fleet to talk to" : `no token for ${address}`, {
    code: "cli.no-connection",
    path: address === undefined ? "ARGOSY_URL" : "ARGOSY_TOKEN",
    remedy: "Run this beside a running `npm run up` (or name its directory with --state DIR), or set ARGOSY_URL and ARGOSY_TOKEN",
  });
}

/** The database tokens are kept in: `--database`, that of `--state`, DATABASE_URL, that of the usual state directory. */
export function findDatabase(options: { readonly database?: string; readonly state?: string }, env: CliEnvironment): string {
  const typed = options.state === undefined ? {} : readEnvFile(options.state, true);
  const url = options.database ?? typed["ARGOSY_DATABASE_URL"] ?? env["DATABASE_URL"] ?? usualState(env)["ARGOSY_DATABASE_URL"];
  if (url !== undefined) return url;
  throw new InputError("no database is named", {
    code: "cli.no-database",
    path: "--database",
    remedy: "Give --database, name the directory of a running `npm run up` with --state, or set DATABASE_URL",
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

function usualState(env: CliEnvironment): Readonly<Record<string, string>> {
  return readEnvFile(env["ARGOSY_STATE"] ?? DEFAULT_STATE, false);
}

function readEnvFile(directory: string, isRequired: boolean): Readonly<Record<string, string>> {
  const path = join(directory, "env");
  try {
    return parseEnvFile(readFileSync(path, "utf8"));
  } catch (cause) {
    if (!isRequired) return {};
    throw new InputError(`no running fleet left its address in ${path}`, {
      code: "cli.no-state",
      path: "--state",
      remedy: "Name the directory that `npm run up -- --state DIR` was given",
      cause,
    });
  }
}

function readAuthorities(file: string): string {
  const refuse = (what: string, cause?: unknown): InputError =>
    new InputError(`${file} ${what}`, {
      code: "cli.certificate-authority",
      path: "ARGOSY_CA",
      remedy: "Give --certificate-authority or ARGOSY_CA a file with the certificates of one or more authorities in PEM",
      cause,
    });
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw refuse("cannot be read", cause);
  }
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0) throw refuse("holds no certificate in PEM");
  try {
    for (const each of certificates) new X509Certificate(each);
  } catch (cause) {
    throw refuse("holds a certificate that cannot be read", cause);
  }
  return certificates.join("\n");
}

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && ["http:", "https:"].includes(url.protocol)) return text.replace(/\/+$/, "");
  throw new InputError(`${text} is no address of a REST API`, {
    code: "cli.url",
    path: "ARGOSY_URL",
    remedy: "Give one like https://argosy.example:8080",
  });
}
