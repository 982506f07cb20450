import type { Command } from "commander";
import { type ExportOptions, exportWorkspaces } from "./export.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import type { Terminal } from "./terminal.ts";

/** Commands for who goes on with an ordinary Argo CD. */
export function addLeavingCommands(program: Command, terminal: Terminal): void {
  remote(program.command("export [workspace...]"), ["yaml", "json"])
    .description("print Applications and AppProjects as an ordinary Argo CD takes them; exit code 1 if any had to be left out")
    .option("--into <namespace>", "namespace of that Argo CD", "argocd")
    .option("--server <url>", "how it addresses the API cluster (default: as instances do)")
    .action(async (workspaces: readonly string[], options: RemoteOptions & ExportOptions) => {
      const { text, remarks, isWhole } = await exportWorkspaces(clientOf(options, terminal), workspaces, options);
      terminal.write(text);
      for (const remark of remarks) terminal.note(remark);
      if (!isWhole) terminal.setExitCode(1);
    });
}
