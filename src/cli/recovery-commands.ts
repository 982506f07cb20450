import { type Command, Option } from "commander";
import { withRecovery } from "../main/recovery.ts";
import { planRecovery, type Recovery, recover } from "../mover/recovery/recover-epochs.ts";
import type { AuditStore } from "../store/audit/port.ts";
import { findDatabase } from "./connection.ts";
import { readText } from "./input-file.ts";
import { isForPrograms, type OutputFormat, render, renderOne } from "./output.ts";
import { recordCommand } from "./record-command.ts";
import { addStateOption } from "./remote.ts";
import { allowedDatabase, readConfig } from "./serve.ts";
import type { Column } from "./table.ts";
import type { Terminal } from "./terminal.ts";

interface RecoverOptions {
  readonly config: string;
  readonly database?: string;
  readonly state?: string;
  readonly dryRun?: boolean;
  readonly output: OutputFormat;
}

type Row = Recovery["units"][number];

export const recoveryColumns: readonly Column<Row>[] = [
  { title: "WORKSPACE", value: ({ unit }) => unit.namespace, fit: "name" },
  { title: "PART", value: ({ unit }) => unit.bucket },
  { title: "ROW SAYS", value: ({ unit }) => unit.owner, fit: "name" },
  { title: "OWNER", value: ({ owner }) => owner, fit: "name" },
  { title: "WHY", value: ({ rule }) => rule },
];

/** Commands for a database that was restored. They speak to the database and the API cluster, with the servers' own configuration. */
export function addRecoveryCommands(program: Command, terminal: Terminal): void {
  addStateOption(
    program
      .command("recover-epochs")
      .description("bring a restored database up to what exists on the clusters, while no control plane runs")
      .requiredOption("-c, --config <file>", "the servers' configuration file")
      .option("--database <url>", "connection string (default: the file's, or DATABASE_URL)")
      .option("--dry-run", "say what would be done, and write nothing")
      .addOption(new Option("-o, --output <format>", "how to show it").choices(["table", "wide", "json", "yaml"]).default("table")),
  ).action(async (options: RecoverOptions) => {
    const config = readConfig({ text: readText(options.config), config: options.config }, terminal.env);
    const own = options.database ?? (options.state === undefined ? config.database.url : undefined);
    const database = allowedDatabase(config, own ?? findDatabase(options, terminal.env), options.config);
    const signal = terminal.interrupted();
    const tell = (done: number, of: number): void => terminal.note(`${done} of ${of} units have a new epoch`);
    const result: Result = await withRecovery<Result>(
      { config, database },
      (deps, audit) => (options.dryRun === true ? planRecovery(deps, signal) : recordRecovery(audit, () => recover(deps, tell, signal))),
      signal,
    );
    show(result, options.output, terminal);
    terminal.note(remark(result));
    if (result.recovered !== undefined && result.recovered < result.units.length) terminal.setExitCode(1);
  });
}

function recordRecovery(audit: AuditStore, work: () => Promise<Result>): Promise<Result> {
  const said = ({ lastEpoch, newestSeen, units, recovered = 0 }: Result) => ({ lastEpoch, newestSeen, units: units.length, recovered });
  return recordCommand({ audit, action: "recoverEpochs", target: "placements", details: {}, said }, work);
}

type Result = Recovery & { readonly recovered?: number };

/** People see what is not as the rows have it; `wide` and programs see everything. */
function show(result: Result, output: OutputFormat, terminal: Terminal): void {
  if (isForPrograms(output)) return terminal.write(renderOne({ ...result }, output));
  const shown = output === "wide" ? result.units : result.units.filter(({ rule }) => rule !== "KEPT");
  if (shown.length > 0) terminal.write(render(shown, recoveryColumns, output));
}

function remark({ lastEpoch, newestSeen, isOlder, units, unknown, recovered }: Result): string {
  const age = isOlder
    ? `the database is older than what stands: its last epoch is ${lastEpoch}, and ${newestSeen} stands`
    : `the database is not older than what stands: its last epoch is ${lastEpoch}, the newest that stands is ${newestSeen}`;
  const count = (rule: Row["rule"]): number => units.filter((each) => each.rule === rule).length;
  const what = `${units.length} units: ${count("KEPT")} where the row says, ${count("MOVED")} elsewhere, ${count("STRANGER")} held by somebody no row knows; ${unknown.length} owner bindings of units that no row places`;
  if (recovered === undefined) return `${age}\n${what}; nothing was written`;
  const left = units.length - recovered;
  const next = left === 0 ? "Control planes may be started" : `${left} changed meanwhile: run it again`;
  return `${age}\n${what}; ${recovered} have a new epoch. ${next}`;
}
