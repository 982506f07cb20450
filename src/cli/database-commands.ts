import type { Command } from "commander";
import { loginNames } from "../config/schema.ts";
import { InputError } from "../domain/errors.ts";
import { systemClock } from "../runtime/clock.ts";
import { grantTo } from "../store/adapters/postgres/migrate.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import { type LoginNames, renderGrantScript } from "../store/adapters/postgres/rights/render-grants.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { findDatabase } from "./connection.ts";
import { readText } from "./input-file.ts";
import { readDatabaseSection } from "./migrate.ts";
import { recordCommand } from "./record-command.ts";
import { addStateOption } from "./remote.ts";
import type { Terminal } from "./terminal.ts";

interface GrantOptions {
  readonly controlPlane?: string;
  readonly api?: string;
  readonly print?: true;
  readonly config?: string;
  readonly database?: string;
  readonly state?: string;
}

const GRANT_MS = 60_000;

/** Commands about the database itself. They run with the login that owns the tables. */
export function addDatabaseCommands(program: Command, terminal: Terminal): void {
  const database = program.command("database").description("rights of Argosy's processes in the database");
  addStateOption(database.command("grant"))
    .description(
      "give the logins of Argosy's processes the rights that each needs and no others, as the owner of the tables; again after each upgrade, where `argosy migrate` does not do it",
    )
    .option("--print", "print the SQL and change nothing; needs no database")
    .option("--control-plane <role>", "PostgreSQL role of processes of every role but api (default: the file's, or argosy_control_plane)")
    .option("--api <role>", "PostgreSQL role of processes of the role api (default: the file's, or argosy_api)")
    .option("-c, --config <file>", "the servers' configuration file; only its `database` section is read")
    .option("--database <url>", "connection string of the tables' owner (default: DATABASE_URL, or the file's)")
    .action((options: GrantOptions) => grantBy(options, terminal));
}

async function grantBy({ print, config, controlPlane, api, ...where }: GrantOptions, terminal: Terminal): Promise<void> {
  const env = where.database === undefined ? terminal.env : { ...terminal.env, DATABASE_URL: where.database };
  const section = config === undefined ? undefined : readDatabaseSection({ text: readText(config), config }, env);
  const typed = { ...(controlPlane !== undefined && { controlPlane }), ...(api !== undefined && { api }) };
  const names = checkedNames({ ...section?.grantTo, ...typed });
  if (print === true) return terminal.write(renderGrantScript(names));
  await grantIn(section?.url ?? findDatabase(where, terminal.env), names, terminal.interrupted());
  terminal.note(`${names.controlPlane} has the rights of every role but api, ${names.api} those of the role api`);
}

function checkedNames(typed: Partial<LoginNames>): LoginNames {
  const parsed = loginNames.safeParse(typed);
  const refuse = (path: string, message: string, remedy: string): InputError =>
    new InputError(message, { code: "cli.login-name", path, remedy });
  if (!parsed.success) {
    const isApi = parsed.error.issues[0]?.path[0] === "api";
    throw refuse(isApi ? "--api" : "--control-plane", "is no name of a login", "Give a letter, then up to 62 letters, digits and _ $ . -");
  }
  if (parsed.data.api === parsed.data.controlPlane)
    throw refuse("--api", "is the login of the other processes too", "Name another PostgreSQL role");
  return parsed.data;
}

async function grantIn(url: string, names: LoginNames, interrupted: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(GRANT_MS)]);
  const store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 1 });
  try {
    await recordCommand({ audit: store.audit, action: "grantRights", target: "database", details: { ...names } }, () =>
      grantTo(names, { url, log: silentLog, signal }),
    );
  } finally {
    await store.close();
  }
}
