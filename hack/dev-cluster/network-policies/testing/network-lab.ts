import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);
const AGENT = fileURLToPath(new URL("./pod-agent.ts", import.meta.url));
const PREFIX = "argosy-np-";
const GATEWAY = "10.244.7.1";
const GATEWAY6 = "fd00:7::1";

/** How pods are connected to their node: all to one bridge, or each by a link of its own, as the CNI plugins of these names do. */
export type Topology = "bridge" | "ptp";

/** What a machine needs for a lab, or why it cannot have one. */
export function whyNoLab(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "it takes root on Linux to make network namespaces";
  for (const [program, args] of [
    ["ip", ["-V"]],
    ["nsenter", ["--version"]],
    ["nft", ["--version"]],
  ] as const) {
    if (tryToRun([program, ...args]).status !== 0) return `${program} is not installed`;
  }
  const name = nameOf("probe");
  try {
    const made = tryToRun(["ip", "netns", "add", name]);
    if (made.status !== 0) return `network namespaces cannot be made here: ${made.stderr.toString().trim()}`;
    const script = "add table inet probe { chain c { type filter hook forward priority filter; ct state established accept; }; }";
    const loaded = tryToRun(inNamespace(name, "nft", script));
    if (loaded.status !== 0) return `the kernel has no nftables with conntrack: ${loaded.stderr.toString().trim().split("\n")[0]}`;
    const calls = tryToRun(inNamespace(name, "cat", "/proc/sys/net/bridge/bridge-nf-call-iptables"));
    if (calls.stdout.toString().trim() !== "1")
      return "bridged packets do not pass netfilter here: load br_netfilter, set net.bridge.bridge-nf-call-iptables=1";
    return undefined;
  } finally {
    tryToRun(["ip", "netns", "delete", name]);
  }
}

/** Names that no other run has; they begin with the process id, by which leftovers of runs that were killed are known. */
function nameOf(role: string): string {
  return `${PREFIX}${process.pid}-${randomBytes(3).toString("hex")}-${role}`;
}

export interface Lab {
  /** Command prefix that runs a program in the node's network. */
  readonly prefix: readonly string[];
  readonly node: Host;
  /** The world outside, at 203.0.113.10 and 203.0.113.200; it routes to pods through the node. */
  readonly outside: Host;
  /** Adds a pod at 10.244.7.`last`, and at fd00:7::`last` where the kernel has IPv6. */
  addPod(name: string, last: number): Promise<Host>;
  /** Runs a program in the node's network. */
  run(...command: readonly string[]): Promise<string>;
  /** Runs a program in a pod's network. */
  inPod(name: string, ...command: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** A network namespace with a program in it. */
export interface Host {
  readonly ip: string;
  readonly ip6: string;
  listen(protocol: "TCP" | "UDP", port: number): Promise<void>;
  /** Who answers and whom it hears, `web hears 10.244.7.3`; `undefined` if nobody does in time. */
  reach(to: Target, withinMs: number): Promise<string | undefined>;
  /** Opens a connection that stays; `say` uses it again. */
  keep(to: Omit<Target, "protocol">, withinMs: number): Promise<string | undefined>;
  say(withinMs: number): Promise<string | undefined>;
}

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly protocol?: "TCP" | "UDP";
}

/** Makes a node and the world outside. Whatever it made is removed when it fails, else by `close`. */
export async function startLab(topology: Topology): Promise<Lab> {
  const cleanup: (() => Promise<unknown>)[] = [];
  const podNamespaces = new Map<string, string>();
  const close = async () => {
    for (const undo of cleanup.splice(0).reverse()) await undo();
  };
  const addNamespace = async (role: string) => {
    const name = nameOf(role);
    cleanup.push(() => ip("netns", "delete", name).catch(() => undefined));
    await ip("netns", "add", name);
    await ip("-n", name, "link", "set", "lo", "up");
    return name;
  };
  const addHost = (role: string, namespace: string, addresses: Pick<Host, "ip" | "ip6">): Host => {
    const agent = startAgent(namespace, role);
    cleanup.push(agent.end);
    return { ...addresses, ...agent.host };
  };
  try {
    const node = await addNamespace("node");
    removeLeftovers();
    await enter(node, ["sh", "-c", "cd /proc/sys/net; echo 1 >ipv4/ip_forward; echo 1 >ipv6/conf/all/forwarding"]);
    if (topology === "bridge") await addBridge(node);
    const outside = await addNamespace("outside");
    await connectOutside(node, outside);
    return {
      prefix: inNamespace(node),
      node: addHost("node", node, { ip: GATEWAY, ip6: GATEWAY6 }),
      outside: addHost("outside", outside, { ip: "203.0.113.10", ip6: "" }),
      async addPod(name, last) {
        const namespace = await addNamespace(name);
        podNamespaces.set(name, namespace);
        const addresses = { ip: `10.244.7.${last}`, ip6: `fd00:7::${last}` };
        const pod = { node, namespace, link: `veth${last}`, ...addresses };
        await (topology === "bridge" ? connectToBridge(pod) : connectByLink(pod));
        return addHost(name, namespace, addresses);
      },
      inPod: (name, ...command) => enter(podNamespaces.get(name) ?? "", command),
      run: (...command) => enter(node, command),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addBridge(node: string): Promise<void> {
  await ip("-n", node, "link", "add", "cni0", "type", "bridge");
  // A bridge whose address is not set takes that of one of its ports, and its pods would have to ask for it again.
  await ip("-n", node, "link", "set", "cni0", "address", "02:00:00:00:07:01", "up");
  await ip("-n", node, "address", "add", `${GATEWAY}/24`, "dev", "cni0");
  await ip("-n", node, "address", "add", `${GATEWAY6}/64`, "dev", "cni0", "nodad");
}

async function connectOutside(node: string, outside: string): Promise<void> {
  await ip("-n", node, "link", "add", "uplink", "type", "veth", "peer", "name", "eth0", "netns", outside);
  await ip("-n", node, "address", "add", "203.0.113.1/24", "dev", "uplink");
  await ip("-n", node, "link", "set", "uplink", "up");
  for (const last of [10, 200]) await ip("-n", outside, "address", "add", `203.0.113.${last}/24`, "dev", "eth0");
  await ip("-n", outside, "link", "set", "eth0", "up");
  await ip("-n", outside, "route", "add", "10.244.7.0/24", "via", "203.0.113.1");
}

interface PodLink {
  readonly node: string;
  readonly namespace: string;
  readonly link: string;
  readonly ip: string;
  readonly ip6: string;
}

/** As the plugin `bridge` does: pods of a node are neighbours, and send each other frames that the node bridges and does not route. */
async function connectToBridge(pod: PodLink): Promise<void> {
  await ip("-n", pod.node, "link", "add", pod.link, "type", "veth", "peer", "name", "eth0", "netns", pod.namespace);
  await ip("-n", pod.node, "link", "set", pod.link, "master", "cni0", "up");
  await ip("-n", pod.node, "link", "set", pod.link, "type", "bridge_slave", "hairpin", "on");
  await ip("-n", pod.namespace, "link", "set", "eth0", "up");
  await ip("-n", pod.namespace, "address", "add", `${pod.ip}/24`, "dev", "eth0");
  await ip("-n", pod.namespace, "address", "add", `${pod.ip6}/64`, "dev", "eth0", "nodad");
  await ip("-n", pod.namespace, "route", "add", "default", "via", GATEWAY);
}

/** As the plugin `ptp` does: every packet of a pod goes to the node, which routes it. */
async function connectByLink(pod: PodLink): Promise<void> {
  await ip("-n", pod.node, "link", "add", pod.link, "type", "veth", "peer", "name", "eth0", "netns", pod.namespace);
  await ip("-n", pod.namespace, "link", "set", "eth0", "up");
  await ip("-n", pod.node, "link", "set", pod.link, "up");
  for (const [gateway, address, bits] of [
    [GATEWAY, pod.ip, 32],
    [GATEWAY6, pod.ip6, 128],
  ] as const) {
    const noDuplicateCheck = bits === 128 ? ["nodad"] : [];
    await ip("-n", pod.node, "address", "add", `${gateway}/${bits}`, "dev", pod.link, ...noDuplicateCheck);
    await ip("-n", pod.node, "route", "add", `${address}/${bits}`, "dev", pod.link);
    await ip("-n", pod.namespace, "address", "add", `${address}/${bits}`, "dev", "eth0", ...noDuplicateCheck);
    await ip("-n", pod.namespace, "route", "add", gateway, "dev", "eth0");
    await ip("-n", pod.namespace, ...(bits === 128 ? ["-6"] : []), "route", "add", "default", "via", gateway);
  }
}

async function ip(...args: readonly string[]): Promise<string> {
  return await runToEnd(["ip", ...args]);
}

const enter = (namespace: string, command: readonly string[]): Promise<string> => runToEnd(inNamespace(namespace, ...command));

function inNamespace(namespace: string, ...command: readonly string[]): readonly string[] {
  return ["nsenter", `--net=/run/netns/${namespace}`, ...command];
}

async function runToEnd([program = "", ...args]: readonly string[]): Promise<string> {
  return (await execute(program, args)).stdout;
}

function tryToRun([program = "", ...args]: readonly string[]) {
  return spawnSync(program, args);
}

/** Starts the program of a host. Its answers are matched to what was asked by number. */
function startAgent(namespace: string, name: string) {
  const [program = "", ...args] = inNamespace(namespace, process.execPath, AGENT, name);
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, PromiseWithResolvers<string | undefined>>();
  let asked = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line) as { readonly id: number; readonly answer?: string | null; readonly error?: string };
    if (said.error === undefined) waiting.get(said.id)?.resolve(said.answer ?? undefined);
    else waiting.get(said.id)?.reject(new Error(`${name}: ${said.error}`));
    waiting.delete(said.id);
  });
  child.once("exit", (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the program of ${name} ended with ${code}`));
  });
  const ask = (command: Readonly<Record<string, unknown>>): Promise<string | undefined> => {
    const answer = Promise.withResolvers<string | undefined>();
    asked++;
    waiting.set(asked, answer);
    child.stdin.write(`${JSON.stringify({ id: asked, ...command })}\n`);
    return answer.promise;
  };
  return {
    host: {
      listen: async (protocol, port) => void (await ask({ do: "listen", protocol, port })),
      reach: (to, withinMs) => ask({ do: "try", protocol: "TCP", ...to, withinMs }),
      keep: (to, withinMs) => ask({ do: "keep", ...to, withinMs }),
      say: (withinMs) => ask({ do: "say", withinMs }),
    } satisfies Omit<Host, "ip" | "ip6">,
    end: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

/** Network namespaces of runs that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync("/run/netns")) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) tryToRun(["ip", "netns", "delete", name]);
  }
}
