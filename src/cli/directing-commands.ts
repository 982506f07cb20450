import type { Command } from "commander";
import type { FreezeView } from "../api/schema.ts";
import {
  type AssignOptions,
  assignWorkspace,
  cordonInstance,
  createFreeze,
  type FreezeOptions,
  freezes,
  type HoldOptions,
  holdWorkspace,
  type PinOptions,
  pinWorkspace,
} from "./directives.ts";
import { isForPrograms, render, renderOne } from "./output.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import type { Terminal } from "./terminal.ts";

const REASON = ["--reason <text>", "why, for the journal and whoever asks later"] as const;

/** Commands that say where workspaces live and when nothing moves. */
export function addDirectingCommands(program: Command, terminal: Terminal): void {
  remote(program.command("pin <workspace>"), ["table", "json", "yaml"])
    .description("say where a workspace has to live, or that it may live anywhere")
    .option("--to <instance>", "on this instance")
    .option("--pool <pool>", "on an instance of this pool")
    .option("--none", "on any of its class")
    .option(...REASON)
    .action(async (workspace: string, options: RemoteOptions & PinOptions) =>
      terminal.write(await pinWorkspace(clientOf(options, terminal), workspace, options)),
    );
  remote(program.command("hold <workspace>"), ["table", "json", "yaml"])
    .description("do not move a workspace for a while unless it must be")
    .option("--for <time>", "for how long, e.g. 90m, 4h, 7d")
    .option("--none", "it may be moved again")
    .option(...REASON)
    .action(async (workspace: string, options: RemoteOptions & HoldOptions) =>
      terminal.write(await holdWorkspace(clientOf(options, terminal), workspace, options)),
    );
  remote(program.command("assign <workspace>"), ["table", "json", "yaml"])
    .description("say which class a workspace has, or that labels of its namespace do; it is handed over while everything goes on")
    .option("--class <class>", "this one, as `argosy get instances -o wide` shows them; another trust needs an approver")
    .option("--none", "the one that labels ask for; without a rule that fits it stays where it is")
    .option(...REASON)
    .action(async (workspace: string, options: RemoteOptions & AssignOptions) =>
      terminal.write(await assignWorkspace(clientOf(options, terminal), workspace, options)),
    );
  addCordon(program, terminal, { name: "cordon", cordoned: true, description: "give an instance no new units; what it holds stays" });
  addCordon(program, terminal, {
    name: "uncordon",
    cordoned: false,
    description: "give a cordoned instance units again, or one that is being emptied: what has not begun to leave it stays",
  });
  addFreeze(program.command("freeze").description("times in which nothing is moved that need not be"), terminal);
}

function addCordon(
  program: Command,
  terminal: Terminal,
  { name, cordoned, description }: { readonly name: string; readonly cordoned: boolean; readonly description: string },
): void {
  remote(program.command(`${name} <instance>`), ["table", "json", "yaml"])
    .description(description)
    .option(...REASON)
    .action(async (instance: string, options: RemoteOptions & { readonly reason?: string }) =>
      terminal.write(await cordonInstance(clientOf(options, terminal), instance, { ...options, cordoned })),
    );
}

function addFreeze(freeze: Command, terminal: Terminal): void {
  remote(freeze.command("create <name>"), ["table", "json", "yaml"])
    .description("make or replace a freeze; without a schedule it begins now")
    .requiredOption("--for <time>", "how long it lasts, e.g. 4h, 62h")
    .option("--schedule <fields>", "when it begins, again and again: five fields as cron has them, in UTC")
    .option(...REASON)
    .action(async (name: string, options: RemoteOptions & FreezeOptions) =>
      terminal.write(await createFreeze(clientOf(options, terminal), name, options)),
    );
  remote(freeze.command("list"), ["table", "json", "yaml"])
    .description("freezes, who made them and why")
    .action(async (options: RemoteOptions) =>
      terminal.write(render(await clientOf(options, terminal).all<FreezeView>("/v1/freezes"), freezes, options.output)),
    );
  remote(freeze.command("delete <name>"), ["table", "json", "yaml"])
    .description("take a freeze back")
    .action(async (name: string, options: RemoteOptions) => {
      await clientOf(options, terminal).delete(`/v1/freezes/${encodeURIComponent(name)}`);
      if (isForPrograms(options.output)) terminal.write(renderOne({ freeze: name, deleted: true }, options.output));
      else terminal.note(`freeze ${name} deleted`);
    });
}
