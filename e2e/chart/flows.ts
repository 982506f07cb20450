import process from "node:process";
import { TABLE } from "../../hack/dev-cluster/network-policies/render-rules.ts";
import { planCluster, planNode } from "../../hack/dev-cluster/real-node/network-plan.ts";
import { run } from "../../hack/dev-cluster/real-node/run.ts";
import { networkOf } from "../../hack/dev-cluster/testing/pod-network.ts";
import type { ChartCluster } from "./chart-cluster.ts";

/** Somewhere that a pod may try to connect to. */
export interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** Time that a connection gets, in ms. What is allowed takes a few; what is blocked is dropped without an answer. */
const CONNECT_MS = 3_000;

/**
 * Tries to connect to each target, all at once, and prints which of them answered. A server that is there and refuses has been reached as
 * well: whether a packet arrives is what is asked.
 */
const CONNECT = `
const { connect } = require("node:net");
const targets = JSON.parse(process.argv[1]);
const attempt = ({ name, host, port }) => new Promise((resolve) => {
  const socket = connect({ host, port, timeout: ${CONNECT_MS} });
  const end = (isOpen) => { socket.destroy(); resolve(isOpen ? [name] : []); };
  socket.once("connect", () => end(true));
  socket.once("timeout", () => end(false));
  socket.once("error", (error) => end(error.code === "ECONNREFUSED"));
});
Promise.all(targets.map(attempt)).then((found) => console.log(JSON.stringify(found.flat())));
`;

/** Names of the targets that are reached from the network of the pod with this address. */
export async function reachedFrom(address: string, targets: readonly Target[], signal: AbortSignal): Promise<readonly string[]> {
  const network = await networkOf(address, signal);
  const args = [`--net=${network}`, process.execPath, "-e", CONNECT, JSON.stringify(targets)];
  return JSON.parse(await run("nsenter", args, signal)) as readonly string[];
}

/** Takes the rules of network policies off every node. What enforces them finds that within ten seconds, and loads them again. */
export async function removePolicyRules({ api }: Pick<ChartCluster, "api">, signal: AbortSignal): Promise<void> {
  const plan = planCluster(Number(api.kubernetes.host.split(".")[2]));
  for (let node = 1; node <= (api.realNodes?.nodes.length ?? 0); node += 1) {
    const network = `--net=/run/netns/${planNode(plan, node).namespace}`;
    // Not there: removed a moment ago.
    await run("nsenter", [network, "nft", "delete", "table", "inet", TABLE], signal).catch(() => undefined);
  }
}
