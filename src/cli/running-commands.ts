import { type Command, Option } from "commander";
import { readText } from "./input-file.ts";
import { type InstallPart, renderInstall } from "./install/render.ts";
import { runServe } from "./serve.ts";
import type { Terminal } from "./terminal.ts";

/** Commands that run the control plane, or prepare a cluster for it. */
export function addRunningCommands(program: Command, terminal: Terminal): void {
  program
    .command("serve")
    .description("run the control plane")
    .requiredOption("-c, --config <file>", "configuration file (YAML); docs/configuration.md lists the fields")
    .option("--roles <roles>", "comma-separated subset of workspace,scheduler,reconciler,provisioner,health,api, or all")
    .action((options: { readonly config: string; readonly roles?: string }) =>
      runServe({ ...options, text: readText(options.config) }, terminal),
    );
  program
    .command("simulate")
    .description(
      "run a whole fleet in this process, on models of everything around it; needs no fleet; `argosy simulate --help` lists its options",
    )
    .allowUnknownOption()
    .allowExcessArguments()
    // The program that is started hands this word on before it comes here: what runs in production knows nothing of the simulation.
    .action(() => {
      terminal.note("nothing was simulated: start it as `npx argosy simulate` in a checkout of Argosy's sources");
      terminal.setExitCode(1);
    });
  program
    .command("manifests")
    .description("print the CRDs, namespaces and roles an administrator installs")
    .addOption(new Option("--for <cluster>", "which part the cluster plays").choices(["api", "engine", "both"]).default("both"))
    .action((options: { readonly for: InstallPart }) => terminal.write(renderInstall(options.for)));
}
