import { Command } from "commander";
import { addAdoptingCommands } from "./adopting-commands.ts";
import { addAuditCommands } from "./audit-commands.ts";
import { addChangingCommands } from "./changing-commands.ts";
import { addDatabaseCommands } from "./database-commands.ts";
import { addDirectingCommands } from "./directing-commands.ts";
import { addFleetCommands } from "./fleet-commands.ts";
import { addInstanceCommands } from "./instance-commands.ts";
import { addKeyCommands } from "./key-commands.ts";
import { addLeavingCommands } from "./leaving-commands.ts";
import { addMovingCommands } from "./moving-commands.ts";
import { addReadingCommands } from "./reading-commands.ts";
import { addRecoveryCommands } from "./recovery-commands.ts";
import { addRolloutCommands } from "./rollout-commands.ts";
import { addRunningCommands } from "./running-commands.ts";
import type { Terminal } from "./terminal.ts";
import { addTokenCommands } from "./token-commands.ts";

/**
 * The command line. Commands throw; the entry turns what they throw into one line on stderr and an exit code: 0 is success,
 * 1 failure, 2 wrong use.
 */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("argosy").description("Control plane for a fleet of Argo CD instances").version(terminal.version);
  program.configureHelp({ sortSubcommands: true });
  program.configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "argosy: ")) });
  // The version of this program is asked of it alone: `rollout create --version` names a release.
  program.enablePositionalOptions();
  program.showHelpAfterError("Add --help to see how it is used.").exitOverride();
  addReadingCommands(program, terminal);
  addAuditCommands(program, terminal);
  addChangingCommands(program, terminal);
  addTokenCommands(program, terminal);
  addDirectingCommands(program, terminal);
  addFleetCommands(program, terminal);
  addInstanceCommands(program, terminal);
  addKeyCommands(program, terminal);
  addDatabaseCommands(program, terminal);
  addAdoptingCommands(program, terminal);
  addLeavingCommands(program, terminal);
  addMovingCommands(program, terminal);
  addRecoveryCommands(program, terminal);
  addRolloutCommands(program, terminal);
  addRunningCommands(program, terminal);
  return program;
}
