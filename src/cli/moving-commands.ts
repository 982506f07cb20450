import type { Command } from "commander";
import type { PoolCapacityView } from "../api/routes/capacity.ts";
import type { MoveView } from "../api/routes/moves.ts";
import type { RebalancingView } from "../api/routes/rebalancing.ts";
import { capacity } from "./capacity.ts";
import { type DrainOptions, drainInstance } from "./drain.ts";
import { attachMove, changeMove, type MoveOptions, moves, moveWorkspace } from "./moves.ts";
import { render } from "./output.ts";
import { rebalancing } from "./rebalancing.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import type { Terminal } from "./terminal.ts";

/** Commands that hand workspaces over from one instance to another, one by one or all of an instance. */
export function addMovingCommands(program: Command, terminal: Terminal): void {
  const move = program.command("move").description("hand a workspace over to another instance while everything goes on");
  remote(move.command("start <workspace>", { isDefault: true }), ["table", "json", "yaml"])
    .description("hand a workspace over; this is what `argosy move <workspace>` does; exit code 1 if it is given up, or would be refused")
    .requiredOption("--to <instance>", "the instance that is to have it")
    .option(
      "--fail-over",
      "do not contact its instance, because nobody reaches it; the clusters it deploys to must be able to refuse that instance",
    )
    .option("--reason <text>", "why, for the journal and whoever asks later")
    .option("--dry-run", "say what speaks against it, and do nothing")
    .option("--no-wait", "do not follow it to its end")
    .action(async (workspace: string, options: RemoteOptions & MoveOptions) => {
      const { text, exitCode } = await moveWorkspace(clientOf(options, terminal), workspace, options, terminal);
      terminal.write(text);
      terminal.setExitCode(exitCode);
    });
  for (const [how, description] of [
    ["abort", "give a move up before its point of no return; its workspace stays where it was"],
    ["reverse", "request the way back of a move that has ended"],
  ] as const)
    remote(move.command(`${how} <move>`), ["table", "json", "yaml"])
      .description(description)
      .action(async (id: string, options: RemoteOptions) =>
        terminal.write(await changeMove(clientOf(options, terminal), id, { how, output: options.output })),
      );
  remote(program.command("drain <instance>"), ["table", "json", "yaml"])
    .description(
      "send away by live moves what an instance holds, and follow that; a repeated call watches, and tries again what was refused",
    )
    .option("--fail-over", "do not contact it, because nobody reaches it; `argosy move --fail-over` for each workspace it holds")
    .option(
      "--force",
      "also where no other instance of its class takes workspaces: until one does, everything stays where it is, and new workspaces wait",
    )
    .option("--dry-run", "say where everything would go and what speaks against it, and do nothing")
    .option("--no-wait", "do not follow it to its end")
    .option("--reason <text>", "why, for the journal and whoever asks later")
    .action(async (instance: string, options: RemoteOptions & DrainOptions) => {
      const { text, exitCode } = await drainInstance(clientOf(options, terminal), instance, options, terminal);
      if (text !== "") terminal.write(text);
      terminal.setExitCode(exitCode);
    });
  remote(program.command("capacity"), ["table", "wide", "json", "yaml"])
    .description("how many instances pools have and are to have, and what load is expected of them within hours and within a day")
    .action(async (options: RemoteOptions) =>
      terminal.write(render(await clientOf(options, terminal).all<PoolCapacityView>("/v1/capacity"), capacity, options.output)),
    );
  remote(program.command("rebalancing"), ["table", "json", "yaml"])
    .description("what becomes of moves that need not be made, class by class, and what the last automatic ones have done")
    .action(async (options: RemoteOptions) =>
      terminal.write(render(await clientOf(options, terminal).all<RebalancingView>("/v1/rebalancing"), rebalancing, options.output)),
    );
  remote(program.command("moves [move]"), ["table", "wide", "json", "yaml"])
    .description("live moves, newest first, or watch one to its end: any unique beginning of its id names it")
    .option("--live", "only those that have not ended")
    .option("--workspace <namespace>", "only those of this workspace")
    .action(async (id: string | undefined, options: RemoteOptions & { readonly live?: boolean; readonly workspace?: string }) => {
      const client = clientOf(options, terminal);
      if (id !== undefined) {
        const output = options.output === "wide" ? "table" : options.output;
        const { text, exitCode } = await attachMove(client, id, output, terminal);
        terminal.write(text);
        return terminal.setExitCode(exitCode);
      }
      const { live = false, workspace } = options;
      terminal.write(render(await client.all<MoveView>("/v1/moves", { live, workspace }), moves, options.output));
    });
}
