import type { Command } from "commander";
import type { FleetProposalView } from "../api/fleet-views.ts";
import { render } from "./output.ts";
import { commandProposal, proposals } from "./proposals.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import type { Terminal } from "./terminal.ts";

const COMMANDS = [
  ["show", "what one changes, and what of it needs a second person"],
  ["approve", "declare what somebody else has proposed; for an approver"],
  ["reject", "end one undone; for an approver"],
  ["withdraw", "take one's own back"],
] as const;

/** Commands about declarations that wait for a second person. */
export function addFleetCommands(program: Command, terminal: Terminal): void {
  const fleet = program.command("fleet").description("declarations of the fleet that wait for a second person");
  remote(fleet.command("proposals"), ["table", "wide", "json", "yaml"])
    .description("declarations that wait for a second person, and those that did, newest first")
    .action(async (options: RemoteOptions) => {
      const { items } = await clientOf(options, terminal).get<{ readonly items: readonly FleetProposalView[] }>("/v1/fleet/proposals");
      terminal.write(render(items, proposals, options.output));
    });
  for (const [command, description] of COMMANDS) {
    const added = remote(fleet.command(`${command} <proposal>`), ["table", "json", "yaml"]).description(description);
    if (command !== "show") added.option("--reason <text>", "why, for the journal and whoever asks later");
    added.action(async (id: string, options: RemoteOptions & { readonly reason?: string }) =>
      terminal.write(await commandProposal(clientOf(options, terminal), id, { ...options, command })),
    );
  }
}
