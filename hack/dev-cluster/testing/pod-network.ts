import { run } from "../real-node/run.ts";

/** Network namespaces of pods on the real nodes of this machine, whichever cluster they are of. */
export async function listPodNetworks(signal?: AbortSignal): Promise<readonly string[]> {
  const listed = await run("ip", ["netns", "list"], signal);
  return listed
    .split("\n")
    .filter((line) => line.startsWith("cni-"))
    .map((line) => line.split(" ")[0] ?? "");
}

/** The network namespace of the pod with this address. */
export async function networkOf(address: string, signal?: AbortSignal): Promise<string> {
  for (const name of await listPodNetworks(signal)) {
    const shown = await run("nsenter", [`--net=/run/netns/${name}`, "ip", "-4", "-o", "address", "show", "eth0"], signal);
    if (shown.includes(` ${address}/`)) return name;
  }
  throw new Error(`no pod has the address ${address}`);
}
