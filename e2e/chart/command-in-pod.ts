import { SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import type { ChartCluster } from "./chart-cluster.ts";

/** The command line as an SRE has it who may open a shell beside the servers. */
export interface CommandInPod {
  /** Asks the server, with an operator's token. */
  tell(...args: readonly string[]): Promise<string>;
  /** The same, for the JSON that the server answers. */
  ask<T>(...args: readonly string[]): Promise<T>;
}

/** `clusterOf` is asked with each command, so that it may be started later. */
export function commandInPod(clusterOf: () => ChartCluster): CommandInPod {
  const program = ["--", "/usr/bin/node", "/app/bin/argosy.js"];
  const run = (...args: readonly string[]): Promise<string> =>
    clusterOf().kubectl(["exec", "--namespace", SYSTEM_NAMESPACE, "deployment/argosy-api", ...program, ...args]);
  let token = "";
  const tell = async (...args: readonly string[]): Promise<string> => {
    if (token === "") token = (await run("token", "create", "tests", "--role", "operator")).trim();
    const where = ["--url", "https://localhost:8080", "--certificate-authority", "/etc/argosy/api-tls/ca.crt", "--token", token];
    return run(...args, ...where);
  };
  return { tell, ask: async <T>(...args: readonly string[]) => JSON.parse(await tell(...args, "-o", "json")) as T };
}
