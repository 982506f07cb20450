import { type Command, Option } from "commander";
import { DECISION_KINDS } from "../domain/decision.ts";
import { InputError } from "../domain/errors.ts";
import { OPERATION_STATES } from "../domain/operation.ts";
import { systemClock } from "../runtime/clock.ts";
import { type CostOptions, showCost } from "./cost.ts";
import { DATABASE_TOKEN, type DatabaseTokenOptions, withClient } from "./database-token.ts";
import { describeResource } from "./describe.ts";
import { runDoctor } from "./doctor.ts";
import { explain } from "./explain.ts";
import { getResources, watchedResources } from "./get.ts";
import { showHealth } from "./health.ts";
import { type JournalOptions, readJournal } from "./journal.ts";
import { makePlanCommand, type PlanCommandOptions, supposeCommand } from "./plan.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import { RESOURCES, resourceOf } from "./resource.ts";
import type { Terminal } from "./terminal.ts";
import { type TopOptions, top } from "./top.ts";
import { tryUntil } from "./try-until.ts";
import { askVersions } from "./version.ts";
import { watchList } from "./watch.ts";
import { whoami } from "./whoami.ts";

interface GetCommandOptions extends RemoteOptions {
  readonly namespace?: string;
  readonly opState?: string;
  readonly watch?: boolean;
}

/** Commands that change nothing. */
export function addReadingCommands(program: Command, terminal: Terminal): void {
  addGet(program, terminal);
  remote(program.command("describe <resource> <name>"), ["yaml", "json"])
    .description("everything known of one instance, workspace, application (namespace/name), operation, plan, move or rollout")
    .option("-n, --namespace <namespace>", "workspace of the application")
    .action(async (resource: string, name: string, options: RemoteOptions & { readonly namespace?: string }) => {
      const kind = resourceOf(resource);
      terminal.write(await describeResource(clientOf(options, terminal), { ...options, resource: kind, name }));
    });
  remote(program.command("explain <thing>"), ["table", "json", "yaml"])
    .description("why a workspace lives where it does, instance/NAME is as it is, plan/ID moves what it moves")
    .action(async (thing: string, options: RemoteOptions) =>
      terminal.write(await explain(clientOf(options, terminal), thing, options.output)),
    );
  addJournal(program, terminal);
  remote(program.command("plan [goal] [subject]"), ["table", "json", "yaml"])
    .description("what should move: rebalance (default), drain <instance>; or would: add <pool>, remove <instance>")
    .option("--class <class>", "only of this class")
    .option("--exit-code", "end with exit code 1 if anything should move")
    .option(
      "--what-if <change>",
      "what would become of a class, by the loads of now: instances=<pool>:-2, load=<workspace>:10, load=*:1.5, release=<pool>:<version>; several at once",
      (change: string, others: readonly string[]) => [...others, change],
      [],
    )
    .action(
      async (
        goal: string | undefined,
        subject: string | undefined,
        options: RemoteOptions & PlanCommandOptions & { readonly exitCode?: boolean; readonly whatIf?: readonly string[] },
      ) => {
        if (options.whatIf !== undefined && options.whatIf.length > 0) {
          refuseBesideWhatIf({ goal, exitCode: options.exitCode });
          return terminal.write(await supposeCommand(clientOf(options, terminal), options.whatIf, options));
        }
        const wanted = { goal: goal ?? "rebalance", subject };
        const { text, hasMoves } = await makePlanCommand(clientOf(options, terminal), wanted, options);
        terminal.write(text);
        if (hasMoves && options.exitCode === true) terminal.setExitCode(1);
      },
    );
  remote(program.command("top <resource>"), ["table", "wide", "json", "yaml"])
    .description("instances by how full they are, or workspaces by their share of their instance")
    .option("--limit <count>", "workspaces at most (default: 20)")
    .action(async (resource: string, options: RemoteOptions & TopOptions) =>
      terminal.write(await top(clientOf(options, terminal), resource, options)),
    );
  remote(program.command("cost"), ["table", "wide", "json", "yaml", "csv"])
    .description("what instances took, and for whom: CPU and memory by workspace, class, label or instance, with what belongs to nobody")
    .option("--since <time>", "from the hour that was then, e.g. 24h, 7d, 30d (default: 24h)")
    .option("--by <what>", "workspace, class, instance, or label=KEY, a label of namespaces that fleet.yaml names (default: workspace)")
    .option("--limit <count>", "lines at most, of those that took most (default: all)")
    .action(async ({ output, ...options }: Omit<RemoteOptions, "output"> & CostOptions) =>
      terminal.write(await showCost(clientOf(options, terminal), systemClock.now(), { ...options, output })),
    );
  remote(program.command("doctor"), ["table", "json", "yaml"])
    .description("check database, clusters, versions, permissions and instances; exit code 1 if anything is wrong")
    .option(...DATABASE_TOKEN)
    .option("--wait <time>", "how long to wait until nothing is wrong, such as 5m (default: not at all)")
    .action(async (options: RemoteOptions & DatabaseTokenOptions & { readonly wait?: string }) => {
      const { text, isHealthy } = await tryUntil(
        { wait: options.wait, clock: systemClock, terminal },
        () => withClient(options, "viewer", terminal, (client) => runDoctor(client, options.output)),
        (report) => report.isHealthy,
      );
      terminal.write(text);
      if (!isHealthy) terminal.setExitCode(1);
    });
  remote(program.command("health [instance]"), ["table", "wide", "json", "yaml"])
    .description("how instances are, the worst first, or how one is and what that rests on; exit code 1 if one is worse than degraded")
    .action(async (instance: string | undefined, options: RemoteOptions) => {
      const { text, isWell } = await showHealth(clientOf(options, terminal), instance, options.output);
      terminal.write(text);
      if (!isWell) terminal.setExitCode(1);
    });
  remote(program.command("whoami"), ["table", "json", "yaml"])
    .description("who you are for the server, by which way, with which role, where, and until when")
    .action(async (options: RemoteOptions) => terminal.write(await whoami(clientOf(options, terminal), options.output)));
  remote(program.command("version"), ["table", "json", "yaml"])
    .description("version of this program, and of the fleet's server if one is found")
    .action((options: RemoteOptions) => askVersions(options, terminal));
}

/** A supposition has no goal, and nothing of it should move now. */
function refuseBesideWhatIf({ goal, exitCode }: { readonly goal: string | undefined; readonly exitCode: boolean | undefined }): void {
  const path = goal === undefined ? exitCode === true && "--exit-code" : "goal";
  if (path !== false) throw new InputError("says nothing beside --what-if", { code: "cli.option", path, remedy: "Leave it out" });
}

function addJournal(program: Command, terminal: Terminal): void {
  remote(program.command("journal"), ["table", "wide", "json", "yaml"])
    .description("what was decided, by whom and why, newest first; with --review exit code 1 if a decision does not follow from its facts")
    .option("--workspace <workspace>", "about this workspace and its placement units")
    .option("--instance <instance>", "about this instance")
    .option("--subject <id>", "about the thing with this id")
    .addOption(new Option("--kind <kind>", "only of this kind").choices(DECISION_KINDS))
    .option("--verdict <verdict>", "only with this verdict, e.g. MOVED, UNPLACEABLE, PINNED")
    .option("--since <time>", "not older than this, e.g. 90m, 24h, 7d")
    .option("--limit <count>", "entries at most (default: 100)")
    .option("--review", "decide each one again from what is recorded with it")
    .action(async (options: RemoteOptions & JournalOptions) => {
      const { text, allHold } = await readJournal(clientOf(options, terminal), systemClock.now(), options);
      terminal.write(text);
      if (!allHold) terminal.setExitCode(1);
    });
}

function addGet(program: Command, terminal: Terminal): void {
  remote(program.command("get <resource> [name]"), ["table", "wide", "json", "yaml"])
    .description(`list ${RESOURCES.join(", ")}; \`get fleet -o yaml\` prints what \`apply -f\` takes`)
    .option("-n, --namespace <namespace>", "only of this workspace")
    .addOption(new Option("--op-state <state>", "only operations in this state").choices(OPERATION_STATES))
    .option("-w, --watch", "then each row again that changes, until it is interrupted; -o json prints each as one line")
    .action(async (resource: string, name: string | undefined, { output, namespace, opState, watch, ...options }: GetCommandOptions) => {
      const wanted = {
        ...{ resource: resourceOf(resource), output },
        ...(name === undefined ? {} : { name }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(opState === undefined ? {} : { state: opState }),
      };
      const client = clientOf(options, terminal);
      if (watch === true) return terminal.setExitCode(await watchList(watchedResources(client, wanted), output, terminal));
      const { text, note } = await getResources(client, wanted);
      terminal.write(text);
      if (note !== undefined) terminal.note(note);
    });
}
