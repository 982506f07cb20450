import { type Command, Option } from "commander";
import { systemClock } from "../runtime/clock.ts";
import { systemRng } from "../runtime/rng.ts";
import { findDatabase } from "./connection.ts";
import { secondsOf } from "./duration.ts";
import { addFilterCommand } from "./filter-command.ts";
import { readText } from "./input-file.ts";
import { type InstallPart, renderInstall } from "./install/render.ts";
import { readDatabaseSection, runMigrate, schemaLines } from "./migrate.ts";
import { type OutputFormat, renderOne } from "./output.ts";
import { addStateOption } from "./remote.ts";
import { runServe } from "./serve.ts";
import type { Terminal } from "./terminal.ts";

interface MigrateOptions {
  readonly check?: true;
  readonly config?: string;
  readonly database?: string;
  readonly state?: string;
  readonly wait?: string;
  readonly output: OutputFormat;
}

async function migrateBy({ check, config, wait, output, ...where }: MigrateOptions, terminal: Terminal): Promise<void> {
  // What is typed wins, and the file says what may be typed.
  const env = where.database === undefined ? terminal.env : { ...terminal.env, DATABASE_URL: where.database };
  const { url, grantTo } = config === undefined ? {} : readDatabaseSection({ text: readText(config), config }, env);
  const request = {
    url: url ?? findDatabase(where, terminal.env),
    isCheck: check === true,
    ...(grantTo && { grantTo }),
    waitMs: wait === undefined ? 0 : secondsOf(wait, "--wait") * 1000,
    version: terminal.version,
    clock: systemClock,
    rng: systemRng,
    note: terminal.note,
  };
  const report = await runMigrate(request, terminal.interrupted());
  terminal.write(output === "table" ? schemaLines(report) : renderOne({ ...report }, output));
  if (report.fits) return;
  if (report.remedy !== "") terminal.note(report.remedy);
  terminal.setExitCode(1);
}

/** Commands that run the control plane, or prepare a cluster for it. */
export function addRunningCommands(program: Command, terminal: Terminal): void {
  program
    .command("serve")
    .description("run the control plane")
    .requiredOption("-c, --config <file>", "configuration file (YAML); docs/configuration.md lists the fields")
    .option("--roles <roles>", "comma-separated subset of workspace,scheduler,reconciler,provisioner,health,api, or all")
    .action((options: { readonly config: string; readonly roles?: string }) =>
      runServe({ ...options, text: readText(options.config) }, terminal),
    );
  addStateOption(program.command("migrate"))
    .description(
      "bring the database's schema up to date, and say what was done; several at once take turns. Logins that the file names in database.grantTo get their rights. Exit code 1 if this program does not work with it then",
    )
    .option("--check", "write nothing, only say whether this program works with the database")
    .option("-c, --config <file>", "the servers' configuration file; only its `database` section is read")
    .option("--database <url>", "connection string (default: DATABASE_URL, or the file's)")
    .option("--wait <time>", "how long to wait for a database that cannot be used yet, such as 5m (default: not at all)")
    .addOption(new Option("-o, --output <format>", "how to show it").choices(["table", "json", "yaml"]).default("table"))
    .action((options: MigrateOptions) => migrateBy(options, terminal));
  addFilterCommand(program, terminal);
  program
    .command("simulate")
    .description(
      "run a whole fleet in this process, on models of everything around it; needs no fleet; `argosy simulate --help` lists its options",
    )
    .allowUnknownOption()
    .allowExcessArguments()
    // The program that is started hands this word on before it comes here: what runs in production knows nothing of the simulation.
    .action(() => {
      terminal.note("nothing was simulated: start it as `npx argosy simulate` in a checkout of Argosy's sources");
      terminal.setExitCode(1);
    });
  program
    .command("manifests")
    .description("print the CRDs, namespaces, roles, policies and priority levels an administrator installs")
    .addOption(new Option("--for <cluster>", "which part the cluster plays").choices(["api", "engine", "both"]).default("both"))
    .option("--token-reviews", "also the right to ask whose token one is, for authentication.kubernetes")
    .action((options: { readonly for: InstallPart; readonly tokenReviews?: boolean }) =>
      terminal.write(renderInstall(options.for, options)),
    );
}
