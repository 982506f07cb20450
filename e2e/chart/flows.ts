import process from "node:process";
import { run } from "../../hack/dev-cluster/real-node/run.ts";
import { networkOf } from "../../hack/dev-cluster/testing/pod-network.ts";

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
  const args = [`--net=/run/netns/${network}`, process.execPath, "-e", CONNECT, JSON.stringify(targets)];
  return JSON.parse(await run("nsenter", args, signal)) as readonly string[];
}
