import { type Command, Option } from "commander";
import type { RolloutView } from "../api/rollout-views.ts";
import type { VersionView } from "../api/version-views.ts";
import { ROLLOUT_MODES } from "../domain/rollout.ts";
import { isForPrograms, render, renderOne } from "./output.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import { type CreateOptions, commandRollout, createRollout, rollouts, versions } from "./rollouts.ts";
import type { Terminal } from "./terminal.ts";

const COMMANDS = [
  ["status", "its waves, and what it does or waits for"],
  ["pause", "upgrade nothing more; instances that were upgraded are still watched"],
  ["resume", "go on with one that was paused"],
  ["approve", "approve a wave whose syncs were too few to judge it by"],
  ["abort", "roll the present wave back and end it; waves before it keep the release"],
] as const;

/** Commands about releases of Argo CD, and how instances get them. */
export function addRolloutCommands(program: Command, terminal: Terminal): void {
  remote(program.command("versions"), ["table", "wide", "json", "yaml"])
    .description("releases that are catalogued, run or are frozen, and on how many instances")
    .action(async (options: RemoteOptions) =>
      terminal.write(
        render(
          (await clientOf(options, terminal).get<{ readonly items: readonly VersionView[] }>("/v1/versions")).items,
          versions,
          options.output,
        ),
      ),
    );
  const rollout = program.command("rollout").description("give a release to instances step by step");
  addCreate(rollout, terminal);
  remote(rollout.command("list"), ["table", "wide", "json", "yaml"])
    .description("rollouts, newest first")
    .action(async (options: RemoteOptions) =>
      terminal.write(
        render(
          (await clientOf(options, terminal).get<{ readonly items: readonly RolloutView[] }>("/v1/rollouts")).items,
          rollouts,
          options.output,
        ),
      ),
    );
  for (const [command, description] of COMMANDS) {
    const added = remote(rollout.command(`${command} [rollout]`), ["table", "json", "yaml"]).description(
      `${description}; the newest where none is named`,
    );
    if (command !== "status") added.option("--reason <text>", "why, for the journal and whoever asks later");
    added.action(async (id: string | undefined, options: RemoteOptions & { readonly reason?: string }) =>
      terminal.write(await commandRollout(clientOf(options, terminal), id, { ...options, command })),
    );
  }
  remote(rollout.command("unfreeze <version>"), ["table", "json", "yaml"])
    .description("let a release that failed be tried again")
    .action(async (version: string, options: RemoteOptions) => {
      await clientOf(options, terminal).post(`/v1/versions/${encodeURIComponent(version)}/unfreeze`, {});
      if (isForPrograms(options.output)) terminal.write(renderOne({ version, frozen: false }, options.output));
      else terminal.note(`${version} may be rolled out again`);
    });
}

function addCreate(rollout: Command, terminal: Terminal): void {
  remote(rollout.command("create"), ["table", "json", "yaml"])
    .description("begin to give a release to instances: canaries, then 5, 20, 50 and 100 % of the capacity")
    .requiredOption("--version <version>", "the release, as in fleet.yaml's catalogue")
    .option("--pool <pool>", "only to instances of this pool")
    .addOption(
      new Option("--mode <mode>", "upgrade under what instances hold, or hand that over to upgraded ones first")
        .choices(ROLLOUT_MODES)
        .default("in-place"),
    )
    .option("--bake <time>", "how long each wave bakes (default: 1h for canaries, 30m for the rest)")
    .option("--emergency", "short bakes, and freezes do not hold it up; for an approver")
    .option("--unattended", "go on where there are too few syncs to judge by and they do not speak against it, instead of asking")
    .option("--dry-run", "say which waves it would have, and do nothing")
    .option("--reason <text>", "why, for the journal and whoever asks later")
    .action(async (options: RemoteOptions & CreateOptions) => terminal.write(await createRollout(clientOf(options, terminal), options)));
}
