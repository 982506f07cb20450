import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { run } from "../../hack/dev-cluster/real-node/run.ts";
import type { Pod } from "./pods.ts";

/** Where control groups of version 1 keep memory. */
const MEMORY_GROUPS = "/sys/fs/cgroup/memory";

/** Takes memory until it is killed, or for good where nothing kills it: 64 MiB each twentieth of a second, touched so that it counts. */
const HOG = "const kept = []; setInterval(() => kept.push(Buffer.alloc(64 * 1024 * 1024, 1)), 50);";

/**
 * Brings the container of a program to the end of its memory, so that the kernel kills that program there: a second process takes memory in its
 * control group, and the program is made the first to be killed. Resolves when it has ended.
 */
export async function exhaustMemory(pod: Pod, program: string): Promise<void> {
  const pid = processOf(pod, program);
  writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  const hog = spawn(process.execPath, ["-e", HOG], { stdio: "ignore" });
  const ended = once(hog, "exit");
  try {
    writeFileSync(join(MEMORY_GROUPS, memoryGroupOf(pid), "cgroup.procs"), String(hog.pid));
    while (existsSync(`/proc/${pid}`)) await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    hog.kill("SIGKILL");
    await ended;
  }
}

/** How often processes that the kernel has killed are sought, and how often containers, in ms. */
const [KILLS_EVERY_MS, CONTAINERS_EVERY_MS] = [50, 1_000];

/**
 * Until it is ended: a container that runs this program is ended as a whole when the kernel kills one of its processes for its memory.
 * Kubernetes has the kernel do so with control groups of version 2 (`memory.oom.group`), which is what clusters have today. With version 1, as
 * here, a Git that takes too much is killed alone, and its fetch fails. With version 2 this does nothing.
 */
export function killWholeContainers(program: string): { end(): void } {
  if (!existsSync(MEMORY_GROUPS)) return { end: () => undefined };
  let groups: readonly string[] = [];
  const killed = new Map<string, number>();
  const find = (): void => {
    const ids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
    groups = [...new Set(ids.filter((id) => read(`/proc/${id}/cmdline`).includes(program)).map((id) => memoryGroupOf(Number(id))))];
  };
  const endThem = (): void => {
    for (const group of groups) {
      const kills = Number(/^oom_kill (\d+)$/m.exec(read(join(MEMORY_GROUPS, group, "memory.oom_control")))?.[1] ?? 0);
      if (kills > (killed.get(group) ?? 0)) endAll(group);
      killed.set(group, kills);
    }
  };
  const timers = [setInterval(find, CONTAINERS_EVERY_MS), setInterval(endThem, KILLS_EVERY_MS)];
  return { end: () => timers.forEach(clearInterval) };
}

function endAll(group: string): void {
  for (const id of read(join(MEMORY_GROUPS, group, "cgroup.procs"))
    .split("\n")
    .filter(Boolean))
    try {
      process.kill(Number(id), "SIGKILL");
    } catch {
      // It has ended by itself.
    }
}

/** The process of a pod's container whose command line names the program. */
function processOf(pod: Pod, program: string): number {
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    if (read(`/proc/${name}/cgroup`).includes(pod.metadata.uid ?? "no uid") && read(`/proc/${name}/cmdline`).includes(program))
      return Number(name);
  }
  throw new Error(`${pod.metadata.name} runs no ${program} on this machine`);
}

function memoryGroupOf(pid: number): string {
  const line = read(`/proc/${pid}/cgroup`)
    .split("\n")
    .find((each) => each.split(":")[1] === "memory");
  return line?.split(":")[2] ?? "";
}

/** A process that has ended meanwhile has no file. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Fills the volume of a pod beyond its limit, as a process does that writes without end: the kubelet evicts the pod. */
export async function fillVolume(pod: Pod, volume: string, signal: AbortSignal): Promise<void> {
  const path = `*/pods/${pod.metadata.uid}/volumes/*/${volume}`;
  const found = await run("find", ["/tmp", "-maxdepth", "10", "-type", "d", "-path", path], signal);
  const folder = found.trim().split("\n")[0] ?? "";
  if (folder === "") throw new Error(`${pod.metadata.name} has no volume ${volume} on this machine`);
  await run("dd", ["if=/dev/zero", `of=${join(folder, "full")}`, "bs=1M", "count=1200", "status=none"], signal);
}
