import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodeOf, findProcess } from "../processes/process.ts";
import type { ContainerRecord, FoundContainer } from "./container.ts";
import type { Pod } from "./pod.ts";
import type { PortForward } from "./programs/launch.ts";
import { processRun } from "./run.ts";

/** Where the files of one container are. */
export interface ContainerFolders {
  readonly own: string;
  readonly run: string;
  /** Stands for the container's `/`. */
  readonly root: string;
  readonly sockets: string;
  readonly log: string;
}

/** What is needed to continue a container that a predecessor started. */
export interface SavedContainer {
  readonly ip: string;
  readonly record: ContainerRecord;
  readonly forwards: readonly PortForward[];
}

/** Folder of a pod below the folder of its node. */
export function podDirectory(node: string, uid: string): string {
  return join(node, "pods", hash(uid, 8));
}

/** Where a container's output is kept, also after it has gone. */
export function containerLog(node: string, pod: { readonly namespace: string; readonly name: string }, container: string): string {
  return join(node, "logs", pod.namespace, pod.name, `${container}.log`);
}

export function containerFolders(node: string, { metadata }: Pod, container: string): ContainerFolders {
  const pod = podDirectory(node, metadata.uid);
  const own = join(pod, container);
  const log = containerLog(node, metadata, container);
  return { own, run: join(own, "run"), root: join(own, "root"), sockets: socketFolder(pod), log };
}

export function removePodFiles(node: string, uid: string): void {
  const pod = podDirectory(node, uid);
  for (const folder of [socketFolder(pod), pod]) rmSync(folder, { recursive: true, force: true });
}

/** The address that a predecessor of this node gave the pod, on which its processes listen. */
export function savedAddress(node: string, uid: string): string | undefined {
  const file = join(podDirectory(node, uid), "address");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** To be called before the process is started: this node may be gone right after that. */
export function saveContainer(folders: ContainerFolders, saved: SavedContainer): void {
  mkdirSync(folders.own, { recursive: true });
  writeFileSync(join(folders.own, "..", "address"), saved.ip);
  writeFileSync(join(folders.own, "record.json"), JSON.stringify(saved));
}

/** The run that a predecessor of this node started, whether it still runs or has ended. */
export function findContainer(folders: ContainerFolders): FoundContainer | undefined {
  const saved = readSaved(folders);
  if (saved === undefined) return undefined;
  const process = findProcess(folders.run);
  const run = process === undefined ? undefined : processRun(process, saved.ip, saved.forwards);
  return { record: saved.record, run, exitCode: exitCodeOf(folders.run) ?? 255 };
}

/** A container that ends together with its node has not crashed: the next node starts it at once. */
export function forgetCrashes(folders: ContainerFolders): void {
  const saved = readSaved(folders);
  if (saved !== undefined) saveContainer(folders, { ...saved, record: { ...saved.record, crashes: 0 } });
}

function readSaved(folders: ContainerFolders): SavedContainer | undefined {
  const file = join(folders.own, "record.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as SavedContainer) : undefined;
}

/**
 * A path that is short enough for sockets (107 bytes): below the pod's folder if possible, else in the system's
 * temporary folder.
 */
function socketFolder(pod: string): string {
  const own = join(pod, "s");
  return own.length <= 90 ? own : join(tmpdir(), `argosy-${hash(pod, 12)}`);
}

function hash(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}
