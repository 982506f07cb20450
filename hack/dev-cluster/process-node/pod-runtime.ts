import { join } from "node:path";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import type { CrashBackoff } from "./backoff.ts";
import { createContainer, type PodContainer, type Prepared } from "./container.ts";
import { type LaunchDeps, prepareProcess, refreshVolumes } from "./launch-container.ts";
import { annotation, type Container, type Pod } from "./pod.ts";
import {
  type ContainerFolders,
  containerFolders,
  findContainer,
  forgetCrashes,
  podDirectory,
  removePodFiles,
  saveContainer,
} from "./pod-folders.ts";
import type { ContainerView } from "./pod-status.ts";
import { pretendRun } from "./run.ts";
import { createVolumes, type Volumes } from "./volumes.ts";

/** One pod on this node. */
export interface PodRuntime {
  readonly uid: string;
  readonly ip: string;
  readonly startedAtMs: number;
  views(): readonly ContainerView[];
  containers(): ReadonlyMap<string, PodContainer>;
  /** Does what is due now. Returns after how many ms there is more to do. */
  step(pod: Pod, signal: AbortSignal): Promise<number>;
  stop(graceMs: number): void;
  isGone(): boolean;
  /** Deletes the pod's files. To be called once it is gone. */
  remove(): void;
  /** Ends all processes and keeps the files, for a node that will be started again. Returns whether there was a process. */
  end(graceMs: number): Promise<boolean>;
  /** Forgets the pod without ending anything, so that a successor finds it. */
  detach(): Promise<void>;
}

export interface PodRuntimeDeps extends Pick<LaunchDeps, "catalogue" | "addressOf" | "nameServer" | "apiServer" | "endsWithUs"> {
  readonly client: KubeClient;
  /** Folder of this node. */
  readonly directory: string;
  readonly backoff: CrashBackoff;
  readonly nowMs: () => number;
  readonly onChange: () => void;
}

/** How often volumes are compared with their sources, in ms. A kubelet takes about a minute. */
const refreshMs = 20_000;
/** How often an image that cannot be pulled is tried again, in ms. */
const pullMs = 60_000;

export function createPodRuntime(first: Pod, ip: string, deps: PodRuntimeDeps): PodRuntime {
  const { uid } = first.metadata;
  const startedAtMs = deps.nowMs();
  const volumes = createVolumes({ ...deps, pod: first, podIP: ip, directory: join(podDirectory(deps.directory, uid), "volumes") });
  let pod = first;
  let refreshAtMs = startedAtMs + refreshMs;
  const parts = { ...deps, ip, volumes, pod: () => pod };
  const containers = new Map(first.spec.containers.map((container) => [container.name, containerOf(container, parts)]));
  const all = [...containers.values()];
  return {
    ...{ uid, ip, startedAtMs },
    views: () => all.map((container) => container.view()),
    containers: () => containers,
    async step(next, signal) {
      pod = next;
      const waits = [refreshMs];
      for (const container of pod.spec.containers) waits.push((await containers.get(container.name)?.step(container, signal)) ?? refreshMs);
      for (const container of all) container.run()?.share(shareOf(pod));
      const hasProcess = all.some((container) => container.run()?.pid !== undefined);
      if (hasProcess && refreshAtMs <= deps.nowMs()) {
        refreshAtMs = deps.nowMs() + refreshMs;
        await refreshVolumes(volumes, signal);
      }
      return Math.min(...waits);
    },
    stop: (graceMs) => all.forEach((container) => container.stop(graceMs)),
    isGone: () => all.every((container) => container.isGone()),
    remove: () => removePodFiles(deps.directory, uid),
    async end(graceMs) {
      const ending = all.filter((container) => container.run()?.pid !== undefined);
      await Promise.all(all.filter((container) => !ending.includes(container)).map((container) => container.detach()));
      const ended = ending.flatMap((container) => container.run()?.ended ?? []);
      ending.forEach((container) => container.stop(graceMs));
      await Promise.all(ended);
      for (const name of containers.keys()) forgetCrashes(containerFolders(deps.directory, first, name));
      return ending.length > 0;
    },
    async detach() {
      await Promise.all(all.map((container) => container.detach()));
    },
  };
}

interface Parts extends PodRuntimeDeps {
  readonly ip: string;
  readonly volumes: Volumes;
  readonly pod: () => Pod;
}

function containerOf(container: Container, parts: Parts): PodContainer {
  const pod = parts.pod();
  const folders = containerFolders(parts.directory, pod, container.name);
  const found = findContainer(folders);
  return createContainer(container, {
    ...{ podIP: parts.ip, backoff: parts.backoff, nowMs: parts.nowMs, onChange: parts.onChange },
    restartPolicy: pod.spec.restartPolicy ?? "Always",
    neverReady: pod.metadata.annotations?.[annotation.ready] === "false",
    prepare: (wanted, signal) => prepare(wanted, { parts, folders }, signal),
    ...(found === undefined ? {} : { found }),
  });
}

async function prepare(
  container: Container,
  { parts, folders }: { readonly parts: Parts; readonly folders: ContainerFolders },
  signal: AbortSignal,
): Promise<Prepared> {
  const pod = parts.pod();
  const image = parts.catalogue.find(container.image);
  switch (image.kind) {
    case "absent":
      return { ok: false, reason: "ImagePullBackOff", message: `Back-off pulling image "${container.image}"`, retryMs: pullMs };
    case "unknown":
      return { ok: true, start: () => Promise.resolve(pretendRun(pretence(pod))) };
    case "program":
      return await prepareProcess(
        { container, image },
        {
          ...{ ...parts, pod, podIP: parts.ip, folders },
          onReady: parts.onChange,
          remember: (record, forwards) => saveContainer(folders, { ip: parts.ip, record, forwards }),
        },
        signal,
      );
  }
}

/** How long a container without a process runs, and how it ends, by its pod's annotations. */
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
