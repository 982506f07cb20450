import { readFileSync } from "node:fs";
import pg from "pg";
import { millis } from "../../../domain/clock.ts";
import { InputError } from "../../../domain/errors.ts";
import { verifiedByDefault } from "./verified-by-default.ts";

const INT8 = 20;
const INT8_ARRAY = 1016;
const TIMESTAMPTZ = 1184;

/**
 * How values of the database become ours: whole numbers are numbers (none of ours reaches 2^53), times are epoch
 * milliseconds. Of this adapter only: nothing is set for other users of the driver.
 */
const types = {
  getTypeParser(oid: number, format?: "text" | "binary"): (text: string) => unknown {
    if (oid === INT8) return Number;
    if (oid === INT8_ARRAY) return numbers;
    if (oid === TIMESTAMPTZ) return instant;
    return pg.types.getTypeParser(oid, format) as (text: string) => unknown;
  },
};

function numbers(text: string): readonly number[] {
  return text === "{}" ? [] : text.slice(1, -1).split(",").map(Number);
}

/** `2026-01-02 03:04:05.678901+00` as the server writes it in UTC, to the millisecond. */
function instant(text: string): number {
  return millis(Math.trunc(Date.parse(text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00"))));
}

/** A statement that takes longer is stuck: the slowest sweep of a large fleet takes a second. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Time the server has to say so itself before the connection is given up. */
const GRACE_MS = 5_000;
const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TRANSACTION_TIMEOUT_MS = 30_000;

/**
 * Statements are prepared once a connection and planned once, for any batch: planning some of them anew takes longer than
 * running them. Every path they take has its index; a plan made while a table was small must not scan it when it has grown.
 * Sorting a batch with its documents fits in memory. Compiling plans to machine code never pays for statements of a
 * millisecond. A busy server checks once a second whether its client is still there.
 */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  work_mem: "32MB",
  jit: "off",
  client_connection_check_interval: "1s",
  timezone: "UTC",
  datestyle: "ISO",
};

/** Parameters of a connection string that name files in PEM, which the driver reads for each connection anew. */
const FILES: readonly string[] = ["sslrootcert", "sslcert", "sslkey"];

/**
 * Settings of every connection. The driver takes TLS from the connection string alone, which asks for it where another machine is meant. Raises `InputError` when the text is no connection
 * string, or a file that it names for TLS cannot be used.
 */
export function connectionSettings(url: string): pg.ClientConfig {
  if (!URL.canParse(url) || !/^postgres(ql)?:$/.test(new URL(url).protocol)) {
    throw new InputError("reading the database's address", {
      code: "store.url",
      path: "database.url",
      remedy: "Give postgres://user:password@host:port/name",
    });
  }
  for (const name of FILES) checkFile(name, new URL(url).searchParams.get(name));
  return {
    connectionString: verifiedByDefault(url),
    application_name: "argosy",
    keepAlive: true,
    types: types as pg.CustomTypesConfig,
    options: Object.entries(SERVER_SETTINGS)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + GRACE_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
  };
}

/** A file without anything in PEM would be taken for one without authorities: then nobody is trusted, and nothing says why. */
function checkFile(parameter: string, file: string | null): void {
  if (file === null || file === "") return;
  const refuse = (what: string, cause?: unknown): InputError =>
    new InputError(`the file that ${parameter} in the database's address names ${what}`, {
      code: "store.tls-file",
      path: "database.url",
      remedy: `Name a file in PEM that Argosy may read with ${parameter}; without sslrootcert the public authorities are trusted`,
      cause,
    });
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw refuse("cannot be read", cause);
  }
  if (!text.includes("-----BEGIN ")) throw refuse("holds nothing in PEM");
}
