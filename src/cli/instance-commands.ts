import type { Command } from "commander";
import { type CalibrateOptions, calibrateCommand } from "./calibrate.ts";
import { createInstance, deleteInstance, type InstanceOrderOptions } from "./instances.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import type { Terminal } from "./terminal.ts";

const DRY_RUN = ["--dry-run", "say what it comes to, and do nothing"] as const;

/** Commands that make an instance, let one go, or learn what it bears, by its name. */
export function addInstanceCommands(program: Command, terminal: Terminal): void {
  const instance = program.command("instance").description("make an instance, or let one go");
  remote(instance.command("create <instance>"), ["table", "json", "yaml"])
    .description("ask for one more instance in a pool, by the name that it gets, e.g. standard-3; a repeated request changes nothing")
    .option(...DRY_RUN)
    .action(async (name: string, options: RemoteOptions & InstanceOrderOptions) =>
      terminal.write(await createInstance(clientOf(options, terminal), name, options)),
    );
  remote(instance.command("delete <instance>"), ["table", "json", "yaml"])
    .description(
      "retire an instance that serves nobody, and ask for no other in its place; `argosy drain` empties one that serves somebody",
    )
    .option(...DRY_RUN)
    .option("--reason <text>", "why, for the journal and whoever asks later")
    .action(async (name: string, options: RemoteOptions & InstanceOrderOptions) =>
      terminal.write(await deleteInstance(clientOf(options, terminal), name, options)),
    );
  remote(program.command("calibrate <instance>"), ["table", "json", "yaml"])
    .description("learn from how an instance does under load what capacity it has")
    .option("--apply", "declare it for its pool; refused where there are doubts")
    .action(async (name: string, options: RemoteOptions & CalibrateOptions) =>
      terminal.write(await calibrateCommand(clientOf(options, terminal), name, options)),
    );
}
