import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError } from "../../src/domain/errors.ts";
import { startTicks } from "./processes/proc.ts";
import { findProcess, stopProcess } from "./processes/process.ts";
import { removeRealLeftovers } from "./real-node/real-cluster.ts";

const graceMs = 5000;

/** Claims the folder until `release`. Throws `InputError` when another process uses it. */
export function claimStateDirectory(directory: string): { release(): void } {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const holder = holderOf(directory);
  if (holder !== undefined) {
    throw new InputError(`Preparing ${directory}`, {
      code: "dev.in-use",
      path: "stateDir",
      remedy: `process ${holder} uses it: end that first, or choose another folder`,
    });
  }
  const file = join(directory, "holder");
  writeFileSync(file, `${process.pid} ${startTicks(process.pid) ?? ""}`);
  return { release: () => rmSync(file, { force: true }) };
}

/** The process that uses the folder now. */
function holderOf(directory: string): number | undefined {
  const file = join(directory, "holder");
  const [pid, ticks] = existsSync(file) ? readFileSync(file, "utf8").split(" ").map(Number) : [];
  return pid !== undefined && ticks !== undefined && startTicks(pid) === ticks ? pid : undefined;
}

/**
 * Ends everything that was started with this folder: its holder, which ends the rest, and what a killed holder left
 * behind. Touches only processes that are recorded in the folder, and only if they are still the same ones.
 */
export async function stopEverything(directory: string): Promise<number> {
  const holder = holderOf(directory);
  if (holder !== undefined && holder !== process.pid) {
    process.kill(holder, "SIGTERM");
    for (let waited = 0; waited < 300 && holderOf(directory) === holder; waited++) await sleep(100);
  }
  return await stopRecorded(directory);
}

/** Ends what a killed holder left behind. Nothing while a holder runs. Returns how many processes that were. */
export async function stopLeftovers(directory: string): Promise<number> {
  return holderOf(directory) === undefined ? await stopRecorded(directory) : 0;
}

async function stopRecorded(directory: string): Promise<number> {
  const folders = findRunFolders(directory);
  // etcd last: without it an API server hangs on its requests until it is killed.
  const isEtcd = (folder: string) => basename(folder) === "etcd";
  const others = await stopAll(folders.filter((folder) => !isEtcd(folder)));
  let networks = 0;
  for (const cluster of foldersIn(directory)) networks += await removeRealLeftovers(cluster);
  return others + networks + (await stopAll(folders.filter(isEtcd)));
}

async function stopAll(folders: readonly string[]): Promise<number> {
  const left = folders.flatMap((folder) => findProcess(folder) ?? []);
  await Promise.all(left.map((process) => stopProcess(process, graceMs)));
  return left.length;
}

/**
 * Folders of processes: `<cluster>/run/<component>`, `<cluster>/node/pods/<pod>/<container>/run` and, of real nodes,
 * `<cluster>/node-<number>/run/<component>`.
 */
function findRunFolders(directory: string): readonly string[] {
  return foldersIn(directory).flatMap((cluster) => [
    ...foldersIn(join(cluster, "run")),
    ...foldersIn(cluster)
      .filter((folder) => basename(folder).startsWith("node-"))
      .flatMap((node) => foldersIn(join(node, "run"))),
    ...foldersIn(join(cluster, "node", "pods")).flatMap((pod) => foldersIn(pod).map((container) => join(container, "run"))),
  ]);
}

function foldersIn(path: string): readonly string[] {
  return existsSync(path)
    ? readdirSync(path)
        .map((name) => join(path, name))
        .filter((at) => statSync(at, { throwIfNoEntry: false })?.isDirectory() === true)
    : [];
}
