import { chmodSync, copyFileSync, existsSync, rmSync, symlinkSync } from "node:fs";
import { parseEnvFile } from "../../src/cli/connection.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { FleetTokens } from "../fleet/tokens.ts";
import type { ProvidedCluster } from "./cluster/provided.ts";
import type { StateDirectory } from "./state-directory.ts";

/** Writes `kubeconfig` and `bin/kubectl` to the state directory; the latter if a kubectl is known. */
export function writeClusterFiles(state: StateDirectory, provided: ProvidedCluster): void {
  copyFileSync(provided.kubeconfigFile, state.path("kubeconfig"));
  chmodSync(state.path("kubeconfig"), 0o600);
  const link = state.path("bin", "kubectl");
  rmSync(link, { force: true });
  if (provided.kubectl !== undefined && existsSync(provided.kubectl)) symlinkSync(provided.kubectl, link);
}

/** Writes the addresses of everything that runs to `env`, where `argosy` finds them. */
export function writeEnvironment(state: StateDirectory, fleet: Fleet, gitUrl: string): void {
  const lines = {
    ARGOSY_URL: fleet.urls[0],
    ARGOSY_TOKEN: fleet.token,
    ARGOSY_APPROVER_TOKEN: fleet.approverToken,
    ARGOSY_METRICS_URL: `${fleet.urls[0]}/metrics`,
    ARGOSY_DATABASE_URL: fleet.databaseUrl,
    ARGOSY_GIT_URL: gitUrl,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
  state.write("env", text.join(""), 0o600);
}

/** The tokens that an earlier start wrote there. */
export function readTokens(state: StateDirectory): Partial<FleetTokens> {
  const { ARGOSY_TOKEN: operator, ARGOSY_APPROVER_TOKEN: approver } = parseEnvFile(state.read("env") ?? "");
  return { ...(operator === undefined ? {} : { operator }), ...(approver === undefined ? {} : { approver }) };
}
