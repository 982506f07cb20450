import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../domain/errors.ts";
import { isLoopback } from "../runtime/is-loopback.ts";

/** How the command line reaches a fleet's REST API. */
export interface ServerConnection {
  readonly url: string;
  readonly token: string;
  /** The token as it is now: of a file, what stands in it. Absent: `token`. */
  readonly readToken?: () => string;
  /** Certificates in PEM of authorities that are trusted beside the public ones. */
  readonly authorities?: string;
}

export interface ConnectionOptions {
  readonly state?: string;
  readonly url?: string;
  readonly token?: string;
  /** A file with a token, which is read anew for each request. */
  readonly tokenFile?: string;
  /** A file. */
  readonly certificateAuthority?: string;
  /** Send the token in plain HTTP to another machine all the same. */
  readonly insecurePlainHttp?: true;
}

export type CliEnvironment = Readonly<Record<string, string | undefined>>;

/** Where `npm run up` keeps its state when nobody says otherwise, relative to the working directory. */
export const DEFAULT_STATE = ".argosy";

/**
 * What was typed wins over the environment: `--url` and `--token` (or `--token-file`), then the `env` file of `--state`, then ARGOSY_URL and
 * ARGOSY_TOKEN (or ARGOSY_TOKEN_FILE), then the `env` file of ARGOSY_STATE or of the usual state directory. The token of a state directory nobody
 * typed goes only to the address found there. The file with authorities is found in the same order, and may be named nowhere. Throws
 * `InputError` naming the ways when none of them leads anywhere, and where the token would leave this machine in plain HTTP.
 */
export function findConnection(options: ConnectionOptions, env: CliEnvironment): ServerConnection {
  const typed = options.state === undefined ? {} : readEnvFile(options.state, true);
  const url = options.url ?? typed["ARGOSY_URL"] ?? env["ARGOSY_URL"];
  const usual = url === undefined || url === usualState(env)["ARGOSY_URL"] ? usualState(env) : {};
  const address = url ?? usual["ARGOSY_URL"];
  const tokenFile = tokenFileOf(options, typed, env);
  const readToken = tokenFile === undefined ? undefined : () => readTokenFile(tokenFile);
  const token = readToken?.() ?? options.token ?? typed["ARGOSY_TOKEN"] ?? env["ARGOSY_TOKEN"] ?? usual["ARGOSY_TOKEN"];
  const names = [options.certificateAuthority, typed["ARGOSY_CA"], env["ARGOSY_CA"], usual["ARGOSY_CA"]];
  const file = names.find((name) => name !== undefined && name !== "");
  if (address !== undefined && token !== undefined)
    return {
      url: checkedUrl(address, options.insecurePlainHttp === true || env["ARGOSY_INSECURE_PLAIN_HTTP"] === "true"),
      token,
      ...(readToken && { readToken }),
      ...(file === undefined ? {} : { authorities: readAuthorities(file) }),
    };
  throw new InputError(address === undefined ? "no fleet to talk to" : `no token for ${address}`, {
    code: "cli.no-connection",
    path: address === undefined ? "ARGOSY_URL" : "ARGOSY_TOKEN",
    remedy: "Run this beside a running `npm run up` (or name its directory with --state DIR), or set ARGOSY_URL and ARGOSY_TOKEN",
  });
}

/** Named where a token is: typed, or in the environment where no token is typed and none is there. */
function tokenFileOf(options: ConnectionOptions, typed: Readonly<Record<string, string>>, env: CliEnvironment): string | undefined {
  if (options.tokenFile !== undefined && options.token !== undefined)
    throw new InputError("a token and a file with one are given", {
      code: "cli.token-file",
      path: "--token-file",
      remedy: "Give one of --token and --token-file",
    });
  if (options.tokenFile !== undefined) return options.tokenFile;
  const isNamed = [options.token, typed["ARGOSY_TOKEN"], env["ARGOSY_TOKEN"]].some((one) => one !== undefined);
  const file = isNamed ? undefined : env["ARGOSY_TOKEN_FILE"];
  return file === "" ? undefined : file;
}

/** Kubernetes replaces the token of a pod's account in its file long before it expires. */
function readTokenFile(file: string): string {
  let token: string;
  try {
    token = readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new InputError(`${file} cannot be read`, {
      code: "cli.token-file",
      path: "--token-file",
      remedy: "Give --token-file or ARGOSY_TOKEN_FILE a file that holds a token",
      cause,
    });
  }
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new InputError(`${file} holds no token`, {
    code: "cli.token-file",
    path: "--token-file",
    remedy: "It has to hold a token and nothing else",
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

function checkedUrl(text: string, isPlainAllowed: boolean): string {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new InputError(`${text} is no address of a REST API`, {
      code: "cli.url",
      path: "ARGOSY_URL",
      remedy: "Give one like https://argosy.example:8080",
    });
  }
  if (url.protocol === "http:" && !isPlainAllowed && !isLoopback(url.hostname)) {
    throw new InputError(`a token is not sent to ${url.host} in plain HTTP, where everybody on the way can read it`, {
      code: "cli.plain-http",
      path: "ARGOSY_URL",
      remedy:
        "Give an https:// address, or one of this machine (`kubectl port-forward`); --insecure-plain-http or ARGOSY_INSECURE_PLAIN_HTTP=true insists",
    });
  }
  return text.replace(/\/+$/, "");
}
