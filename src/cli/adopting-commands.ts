import type { Command } from "commander";
import { withAdoptedCluster } from "../main/adoption.ts";
import { type AdoptOptions, adopt } from "./adopt.ts";
import { clientOf, type RemoteOptions, remote } from "./remote.ts";
import type { Terminal } from "./terminal.ts";

interface KubeconfigOptions {
  readonly kubeconfig: string;
  readonly context?: string;
}

/** Commands for who comes from an ordinary Argo CD. */
export function addAdoptingCommands(program: Command, terminal: Terminal): void {
  remote(program.command("adopt <namespace>"), ["table", "json", "yaml"])
    .description(
      "take over what an Argo CD that was installed by hand deploys, and change nothing of it; exit code 1 if something is left to it",
    )
    .requiredOption("--kubeconfig <file>", "of the API cluster, with rights to read that namespace and to make GitOpsDeployments")
    .option("--context <name>", "its context (default: the current one)")
    .option("--dry-run", "say what would become of each Application, and do nothing")
    .action(async (namespace: string, options: RemoteOptions & AdoptOptions & KubeconfigOptions) => {
      const client = clientOf(options, terminal);
      const { text, isWhole } = await withAdoptedCluster(options, (source) => adopt(client, { ...source, namespace }, options, terminal));
      terminal.write(text);
      if (!isWhole) terminal.setExitCode(1);
    });
}
