import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { podNetworksOf } from "../real-node/node-files.ts";
import { run } from "../real-node/run.ts";

const RUN = "/run";

/** The network namespace of the pod with this address, as a path for nsenter(1). The pod may be on any real node of this machine. */
export async function networkOf(address: string, signal?: AbortSignal): Promise<string> {
  for (const path of podNetworks()) {
    // A network that is just being made, or that is going, has no address.
    const shown = await run("nsenter", [`--net=${path}`, "ip", "-4", "-o", "address", "show", "eth0"], signal).catch(() => "");
    signal?.throwIfAborted();
    if (shown.includes(` ${address}/`)) return path;
  }
  throw new Error(`no pod has the address ${address}`);
}

function podNetworks(): readonly string[] {
  return readdirSync(RUN)
    .map((name) => podNetworksOf({ runDirectory: join(RUN, name) }))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
}
