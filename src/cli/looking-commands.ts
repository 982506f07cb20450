import { type Command, Option } from "commander";
import { OPERATION_STATES } from "../domain/operation.ts";
import { describeResource } from "./describe.ts";
import { runDoctor } from "./doctor.ts";
import { explainWorkspace } from "./explain.ts";
import { getResources } from "./get.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import { RESOURCES, resourceOf } from "./resource.ts";
import type { Terminal } from "./terminal.ts";
import { askVersions } from "./version.ts";

interface GetCommandOptions extends RemoteOptions {
  readonly namespace?: string;
  readonly opState?: string;
}

/** Commands that change nothing. */
export function addLookingCommands(program: Command, terminal: Terminal): void {
  addGet(program, terminal);
  remote(program.command("describe <resource> <name>"), ["yaml", "json"])
    .description("everything known of one instance, workspace, application (namespace/name) or operation")
    .option("-n, --namespace <namespace>", "workspace of the application")
    .action(async (resource: string, name: string, options: RemoteOptions & { readonly namespace?: string }) => {
      const kind = resourceOf(resource);
      terminal.write(await describeResource(clientOf(options, terminal), { ...options, resource: kind, name }));
    });
  remote(program.command("explain <workspace>"), ["table", "json", "yaml"])
    .description("why a workspace lives where it does")
    .action(async (workspace: string, options: RemoteOptions) =>
      terminal.write(await explainWorkspace(clientOf(options, terminal), workspace, options.output)),
    );
  remote(program.command("doctor"), ["table", "json", "yaml"])
    .description("check database, clusters, versions, permissions and instances; exit code 1 if anything is wrong")
    .action(async (options: RemoteOptions) => {
      const { text, isHealthy } = await runDoctor(clientOf(options, terminal), options.output);
      terminal.write(text);
      if (!isHealthy) terminal.setExitCode(1);
    });
  remote(program.command("version"), ["table", "json", "yaml"])
    .description("version of this program, and of the fleet's server if one is found")
    .action((options: RemoteOptions) => askVersions(options, terminal));
}

function addGet(program: Command, terminal: Terminal): void {
  remote(program.command("get <resource> [name]"), ["table", "wide", "json", "yaml"])
    .description(`list ${RESOURCES.join(", ")}`)
    .option("-n, --namespace <namespace>", "only of this workspace")
    .addOption(new Option("--op-state <state>", "only operations in this state").choices(OPERATION_STATES))
    .action(async (resource: string, name: string | undefined, { output, namespace, opState, ...options }: GetCommandOptions) => {
      const { text, note } = await getResources(clientOf(options, terminal), {
        ...{ resource: resourceOf(resource), output },
        ...(name === undefined ? {} : { name }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(opState === undefined ? {} : { state: opState }),
      });
      terminal.write(text);
      if (note !== undefined) terminal.note(note);
    });
}
