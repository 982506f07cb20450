import process from "node:process";
import type { Command } from "commander";
import type { FilterOptions } from "./filter.ts";
import type { Terminal } from "./terminal.ts";

/** The command that instances with filtered entries run beside their controller. It is loaded without all the others: a pod has memory for it alone. */
export function addFilterCommand(program: Command, terminal: Terminal): void {
  program
    .command("filter")
    .description(
      "stand between an instance's controller and the API cluster, and leave out what the instance does not hold; part of an instance's pod",
    )
    .requiredOption("--server <url>", "API server whose lists are filtered")
    .option("--server-ca <base64>", "what proves it: PEM in Base64 (default: the system's authorities)")
    .requiredOption("--namespace <name>", "namespace of the instance, whose AppProjects say what is let in")
    .requiredOption("--listen <address:port>", "where the instance's entry finds the proxy")
    .requiredOption("--health <address:port>", "where probes find it")
    .requiredOption("--tls-certificate <file>", "certificate by which it passes for the API server, PEM")
    .requiredOption("--tls-key <file>", "its key, PEM")
    .option("--kubeconfig <file>", "how the cluster of the instance is reached (default: as a pod reaches its own)")
    .action(async (options: FilterOptions) => {
      const { runFilter } = await import("./filter.ts");
      await runFilter(options, { env: process.env, signal: terminal.interrupted() });
    });
}
