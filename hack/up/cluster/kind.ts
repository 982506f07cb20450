import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import type { StateDirectory } from "../state-directory.ts";
import { provideExistingCluster, serverOf } from "./existing.ts";
import type { ProvideContext, ProvidedCluster } from "./provided.ts";

const run = promisify(execFile);
const NAME = "argosy";
/** Says that the kind cluster is ours to delete, also for the next start after this one was killed. */
const OURS = "kind.ours";

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
  try {
    await createCluster(context, signal);
    return await openCluster(context, signal);
  } catch (error) {
    await deleteKindCluster(context.state);
    throw error;
  }
}

async function createCluster({ state, progress }: ProvideContext, signal: AbortSignal): Promise<void> {
  const known = (await run("kind", ["get", "clusters"], { signal })).stdout.split("\n").includes(NAME);
  if (known) return progress.say(`  kind's cluster ${NAME} was there already`);
  state.write(OURS, "");
  const args = ["create", "cluster", "--name", NAME, "--kubeconfig", state.path("kind.kubeconfig"), "--wait", "300s"];
  await progress.step("creating a cluster with kind", () => run("kind", args, { signal }));
}

async function openCluster(context: ProvideContext, signal: AbortSignal): Promise<ProvidedCluster> {
  const kubeconfig = context.state.path("kind.kubeconfig");
  const internal = context.state.path("kind-internal.kubeconfig");
  writeFileSync(kubeconfig, (await run("kind", ["get", "kubeconfig", "--name", NAME], { signal })).stdout, { mode: 0o600 });
  writeFileSync(internal, (await run("kind", ["get", "kubeconfig", "--name", NAME, "--internal"], { signal })).stdout, { mode: 0o600 });
  const gateway = (
    await run("docker", ["network", "inspect", "kind", "--format", "{{range .IPAM.Config}}{{.Gateway}} {{end}}"], { signal })
  ).stdout.split(" ");
  const existing = {
    kubeconfig,
    gitHost: gateway.find((address) => address.includes(".")) ?? "127.0.0.1",
    config: { apiCluster: { instanceServer: serverOf(internal) } },
  };
  const provided = await provideExistingCluster(existing, context, signal);
  return {
    ...provided,
    async stop() {
      await provided.stop();
      await deleteKindCluster(context.state);
    },
  };
}

/** Deletes the cluster unless it was there before us. */
export async function deleteKindCluster(state: StateDirectory): Promise<boolean> {
  if (state.read(OURS) === undefined) return false;
  await run("kind", ["delete", "cluster", "--name", NAME]);
  state.remove(OURS);
  return true;
}
