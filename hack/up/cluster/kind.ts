import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { UnavailableError } from "../../../src/domain/errors.ts";
import type { StateDirectory } from "../state-directory.ts";
import { provideExistingCluster, serverOf } from "./existing.ts";
import type { ProvideContext, ProvidedCluster } from "./provided.ts";

const execute = promisify(execFile);
const NAME = "argosy";
/** Marks the kind cluster as ours to delete, also for the next start if this one is killed. */
const OURS = "kind.ours";

/**
 * Returns a program's output. Throws `UnavailableError` with its first line of error output if it fails, and the
 * signal's reason when that aborts.
 */
async function run(program: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  try {
    return (await execute(program, args, signal === undefined ? {} : { signal })).stdout;
  } catch (error) {
    signal?.throwIfAborted();
    const { stderr = "", message } = error as Error & { readonly stderr?: string };
    const [complaint = message] = (stderr.trim() === "" ? message : stderr.trim()).split("\n");
    throw new UnavailableError(`Running ${program} ${args.slice(0, 2).join(" ")}: ${complaint}`, { code: "up.kind-failed" });
  }
}

/** Whether a container engine answers and kind is installed. */
export async function isKindUsable(): Promise<boolean> {
  try {
    await execute("docker", ["info", "--format", "{{.ServerVersion}}"], { timeout: 10_000 });
    await execute("kind", ["version"], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

/**
 * A cluster of kind. Pods reach this machine by the gateway of kind's network, and the API server by its name in that
 * network.
 */
export async function provideKindCluster(context: ProvideContext, signal: AbortSignal): Promise<ProvidedCluster> {
  try {
    await createCluster(context, signal);
    return await openCluster(context, signal);
  } catch (error) {
    await deleteKindCluster(context.state);
    throw error;
  }
}

/** Whether a cluster of our name exists. */
export async function hasKindCluster(signal: AbortSignal): Promise<boolean> {
  return (await run("kind", ["get", "clusters"], signal)).split("\n").includes(NAME);
}

async function createCluster({ state, progress }: ProvideContext, signal: AbortSignal): Promise<void> {
  if (await hasKindCluster(signal)) return progress.say(`  kind's cluster ${NAME} was there already`);
  state.write(OURS, "");
  const args = ["create", "cluster", "--name", NAME, "--kubeconfig", state.path("kind.kubeconfig"), "--wait", "300s"];
  await progress.step("creating a cluster with kind", () => run("kind", args, signal));
}

async function openCluster(context: ProvideContext, signal: AbortSignal): Promise<ProvidedCluster> {
  const kubeconfig = context.state.path("kind.kubeconfig");
  const internal = context.state.path("kind-internal.kubeconfig");
  writeFileSync(kubeconfig, await run("kind", ["get", "kubeconfig", "--name", NAME], signal), { mode: 0o600 });
  writeFileSync(internal, await run("kind", ["get", "kubeconfig", "--name", NAME, "--internal"], signal), { mode: 0o600 });
  const gateway = (
    await run("docker", ["network", "inspect", "kind", "--format", "{{range .IPAM.Config}}{{.Gateway}} {{end}}"], signal)
  ).split(" ");
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

/** Deletes the cluster unless it existed before. */
export async function deleteKindCluster(state: StateDirectory): Promise<boolean> {
  if (state.read(OURS) === undefined) return false;
  await run("kind", ["delete", "cluster", "--name", NAME]);
  state.remove(OURS);
  return true;
}
