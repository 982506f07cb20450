import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodeOf, findProcess } from "../processes/process.ts";
import type { CrashBackoff } from "./backoff.ts";
import { type ContainerOptions, type ContainerRecord, createContainer, type PodContainer } from "./container.ts";
import { type ContainerFolders, type LaunchDeps, prepareProcess, refreshVolumes } from "./launch-container.ts";
import { annotation, type Container, type Pod } from "./pod.ts";
import type { ContainerView } from "./pod-status.ts";
import type { Catalogue } from "./programs/catalogue.ts";
import type { PortForward } from "./programs/launch.ts";
import { pretendRun, processRun } from "./run.ts";
import { createVolumes } from "./volumes.ts";

/** One pod on this node. */
export interface PodRuntime {
  readonly uid: string;
  readonly ip: string;
  readonly startedAtMs: number;
  views(): readonly ContainerView[];
  containers(): ReadonlyMap<string, PodContainer>;
  /** Does what is due now; returns after how many ms there is more. */
  step(pod: Pod, signal: AbortSignal): Promise<number>;
  stop(graceMs: number): void;
  isGone(): boolean;
  /** Removes the pod's files; to be called when it is gone. */
  remove(): void;
  /** Ends everything and keeps the files, for a node that will be started again: its pods then start as if it were the first time. */
  end(graceMs: number): Promise<void>;
  /** Lets go of the pod without ending anything, so that a successor finds it. */
  detach(): Promise<void>;
}

export interface PodRuntimeDeps extends Pick<LaunchDeps, "addressOf" | "apiServer" | "endsWithUs"> {
  readonly client: Parameters<typeof createVolumes>[0]["client"];
  readonly catalogue: Catalogue;
  /** Folder of this node. */
  readonly directory: string;
  readonly backoff: CrashBackoff;
  readonly nowMs: () => number;
  readonly onChange: () => void;
}

/** How often volumes are compared with what they are made of, in ms; a kubelet takes about a minute. */
const refreshMs = 20_000;

interface SavedContainer {
  readonly record: ContainerRecord;
  readonly forwards: readonly PortForward[];
}

export function createPodRuntime(first: Pod, ip: string, deps: PodRuntimeDeps): PodRuntime {
  const directory = podDirectory(deps.directory, first.metadata.uid);
  const startedAtMs = deps.nowMs();
  const volumes = createVolumes({ client: deps.client, pod: first, podIP: ip, directory: join(directory, "volumes"), nowMs: deps.nowMs });
  let pod = first;
  let refreshAtMs = 0;
  const containers = new Map(first.spec.containers.map((container) => [container.name, containerOf(container)]));

  function containerOf(container: Container): PodContainer {
    const folders = foldersOf(deps.directory, directory, first, container.name);
    const found = findRun(folders, ip);
    const options: ContainerOptions = {
      podIP: ip,
      restartPolicy: first.spec.restartPolicy ?? "Always",
      backoff: deps.backoff,
      nowMs: deps.nowMs,
      onChange: deps.onChange,
      neverReady: first.metadata.annotations?.[annotation.ready] === "false",
      prepare: async (wanted, signal) => {
        const image = deps.catalogue.find(wanted.image);
        if (image.kind === "absent")
          return { ok: false, reason: "ImagePullBackOff", message: `Back-off pulling image "${wanted.image}"`, retryMs: 60_000 };
        if (image.kind === "unknown") return { ok: true, start: () => Promise.resolve(pretendRun(pretence(pod))) };
        return await prepareProcess(
          wanted,
          image,
          {
            ...deps,
            pod,
            podIP: ip,
            folders,
            volumes,
            onReady: deps.onChange,
            remember: (record, forwards) => save(folders, { record, forwards }),
          },
          signal,
        );
      },
      ...(found === undefined ? {} : { found }),
    };
    return createContainer(container, options);
  }

  return {
    uid: first.metadata.uid,
    ip,
    startedAtMs,
    views: () => [...containers.values()].map((container) => container.view()),
    containers: () => containers,
    async step(next, signal) {
      pod = next;
      const waits = [refreshMs];
      for (const container of pod.spec.containers) waits.push((await containers.get(container.name)?.step(container, signal)) ?? refreshMs);
      for (const container of containers.values()) container.run()?.share(shareOf(pod));
      if (!existsSync(join(directory, "address")) && existsSync(directory)) writeFileSync(join(directory, "address"), ip);
      const hasProcess = [...containers.values()].some((container) => container.run()?.pid !== undefined);
      if (hasProcess && refreshAtMs < deps.nowMs()) {
        refreshAtMs = deps.nowMs() + refreshMs;
        await refreshVolumes(volumes, signal);
      }
      return Math.min(...waits);
    },
    stop: (graceMs) => containers.forEach((container) => container.stop(graceMs)),
    isGone: () => [...containers.values()].every((container) => container.isGone()),
    remove() {
      for (const folder of [socketFolder(directory), directory]) rmSync(folder, { recursive: true, force: true });
    },
    async end(graceMs) {
      const runs = [...containers.values()].flatMap((container) => container.run() ?? []);
      containers.forEach((container) => container.stop(graceMs));
      await Promise.all(runs.map((run) => run.ended));
      for (const name of containers.keys()) forgetCrashes(join(directory, name, "record.json"));
    },
    async detach() {
      await Promise.all([...containers.values()].map((container) => container.detach()));
    },
  };
}

/** Address a predecessor of this node gave the pod, which its processes listen on. */
export function savedAddress(node: string, uid: string): string | undefined {
  const file = join(podDirectory(node, uid), "address");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

export function podDirectory(node: string, uid: string): string {
  return join(node, "pods", createHash("sha256").update(uid).digest("hex").slice(0, 8));
}

function foldersOf(node: string, pod: string, { metadata }: Pod, container: string): ContainerFolders {
  const own = join(pod, container);
  return {
    own,
    run: join(own, "run"),
    root: join(own, "root"),
    sockets: socketFolder(pod),
    log: join(node, "logs", metadata.namespace, metadata.name, `${container}.log`),
  };
}

/** A path short enough for sockets, which have 107 bytes: below the pod's folder if that leaves room, else in the system's one for such things. */
function socketFolder(pod: string): string {
  const own = join(pod, "s");
  return own.length <= 90 ? own : join(tmpdir(), `argosy-${createHash("sha256").update(pod).digest("hex").slice(0, 12)}`);
}

function save(folders: ContainerFolders, saved: SavedContainer): void {
  mkdirSync(folders.own, { recursive: true });
  writeFileSync(join(folders.own, "record.json"), JSON.stringify(saved));
}

function forgetCrashes(file: string): void {
  if (!existsSync(file)) return;
  const saved = JSON.parse(readFileSync(file, "utf8")) as SavedContainer;
  writeFileSync(file, JSON.stringify({ ...saved, record: { ...saved.record, crashes: 0 } }));
}

/** The run a predecessor of this node started, whether it goes on or has ended meanwhile. */
function findRun(folders: ContainerFolders, ip: string): ContainerOptions["found"] {
  const file = join(folders.own, "record.json");
  if (!existsSync(file)) return undefined;
  const saved = JSON.parse(readFileSync(file, "utf8")) as SavedContainer;
  const process = findProcess(folders.run);
  const run = process === undefined ? undefined : processRun(process, ip, saved.forwards);
  return { record: saved.record, run, exitCode: exitCodeOf(folders.run) ?? 255 };
}

function pretence({ metadata, spec }: Pod): { readonly runMs: number | undefined; readonly exitCode: number } {
  const code = metadata.annotations?.[annotation.exitCode];
  const ends = code !== undefined || (spec.restartPolicy ?? "Always") !== "Always";
  const runMs = Number(metadata.annotations?.[annotation.runMs] ?? 1000);
  return { runMs: ends ? (Number.isFinite(runMs) ? runMs : 1000) : undefined, exitCode: Number(code ?? 0) || 0 };
}

function shareOf(pod: Pod): number {
  const share = Number(pod.metadata.annotations?.[annotation.cpuShare] ?? 1);
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 1;
}
