import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commandLine } from "../processes/proc.ts";
import { findProcess, stopProcess } from "../processes/process.ts";
import { processesIn, removeControlGroup } from "./control-groups.ts";
import { removeNodeNetwork } from "./network.ts";
import type { NodeNetwork } from "./network-plan.ts";
import { run } from "./run.ts";

export type NodeComponent = "containerd" | "kubelet" | "kube-proxy";

/** A node's programs, in the order in which they are started. */
export const COMPONENTS: readonly NodeComponent[] = ["containerd", "kubelet", "kube-proxy"];

/** Where the record of a program is, by which a later process finds it. */
export function runFolderOf(directory: string, component: NodeComponent): string {
  return join(directory, "run", component);
}

/** A node with the folders that it fills. */
export interface NodeFolders {
  readonly node: NodeNetwork;
  /** Images, volumes, logs. */
  readonly directory: string;
  /** Sockets and what else is gone with it. */
  readonly runDirectory: string;
}

const GRACE_MS = 5_000;
const POLL_MS = 50;
const POLLS = 100;

/**
 * Ends a node and removes what it leaves: its programs first, which would start containers again, then containers and what holds them,
 * mounts (networks of pods among them), control groups, its network. What it keeps for the next start (images, logs) stays. Does nothing where there is nothing.
 */
export async function removeNode(folders: NodeFolders): Promise<void> {
  const { node, runDirectory } = folders;
  await endPrograms(folders);
  if (!existsSync(runDirectory)) return;
  await endContainers(folders);
  for (const path of mountsBelow([folders.directory, runDirectory])) await run("umount", ["--lazy", path]).catch(() => undefined);
  removeControlGroup(node.namespace);
  await removeNodeNetwork(node);
  rmSync(runDirectory, { recursive: true, force: true });
  for (const folder of ["kubelet", "cni"]) rmSync(join(folders.directory, folder), { recursive: true, force: true });
}

async function endPrograms({ directory }: NodeFolders): Promise<void> {
  for (const component of COMPONENTS.toReversed()) {
    const program = findProcess(runFolderOf(directory, component));
    if (program !== undefined) await stopProcess(program, GRACE_MS);
  }
}

/** Containers are in the node's control group; the shims that hold them are not, and name the node's socket in their command line. */
async function endContainers({ node, runDirectory }: NodeFolders): Promise<void> {
  for (let poll = 0; poll < POLLS; poll += 1) {
    const left = [...shimsOf(runDirectory), ...processesIn(node.namespace)];
    if (left.length === 0) return;
    for (const pid of left) kill(pid);
    await sleep(POLL_MS);
  }
}

function shimsOf(runDirectory: string): readonly number[] {
  const socket = join(runDirectory, "containerd.sock");
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const words = commandLine(pid);
      return words.some((word) => word.includes("containerd-shim")) && words.includes(socket);
    });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended meanwhile.
  }
}

/** Mount points below folders, the innermost first. */
function mountsBelow(folders: readonly string[]): readonly string[] {
  if (!existsSync("/proc/self/mountinfo")) return [];
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => (line.split(" ")[4] ?? "").replaceAll("\\040", " "))
    .filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)))
    .reverse();
}
