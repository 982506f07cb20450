import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { provideExistingCluster, serverOf } from "./existing.ts";
import type { ProvideContext, ProvidedCluster } from "./provided.ts";

const run = promisify(execFile);
const NAME = "argosy";

/** Whether a container engine answers and kind is installed. */
export async function isKindUsable(): Promise<boolean> {
  try {
    await run("docker", ["info", "--format", "{{.ServerVersion}}"], { timeout: 10_000 });
    await run("kind", ["version"], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

/** A cluster of kind. Pods reach this machine by the gateway of kind's network, and the API server by its name there. */
export async function provideKindCluster(context: ProvideContext, signal: AbortSignal): Promise<ProvidedCluster> {
  const kubeconfig = context.state.path("kind.kubeconfig");
  const internal = context.state.path("kind-internal.kubeconfig");
  const known = (await run("kind", ["get", "clusters"], { signal })).stdout.split("\n").includes(NAME);
  if (!known)
    await context.progress.step("creating a cluster with kind", () =>
      run("kind", ["create", "cluster", "--name", NAME, "--kubeconfig", kubeconfig, "--wait", "300s"], { signal }),
    );
  writeFileSync(kubeconfig, (await run("kind", ["get", "kubeconfig", "--name", NAME], { signal })).stdout, { mode: 0o600 });
  writeFileSync(internal, (await run("kind", ["get", "kubeconfig", "--name", NAME, "--internal"], { signal })).stdout, { mode: 0o600 });
  const gateway = (
    await run("docker", ["network", "inspect", "kind", "--format", "{{range .IPAM.Config}}{{.Gateway}} {{end}}"], { signal })
  ).stdout.split(" ");
  return provideExistingCluster(
    {
      kubeconfig,
      yes: true,
      why: "a container engine and kind are here",
      gitHost: gateway.find((address) => address.includes(".")) ?? "127.0.0.1",
      config: { apiCluster: { instanceServer: serverOf(internal) } },
      ...(known ? {} : { stop: async () => void (await run("kind", ["delete", "cluster", "--name", NAME])) }),
    },
    context,
    signal,
  );
}
