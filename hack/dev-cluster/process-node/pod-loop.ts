import { type Clock, millis, rfc3339 } from "../../../src/domain/clock.ts";
import type { WorkResult } from "../../../src/runtime/keyed-queue.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import type { ObjectName } from "../../../src/runtime/kube/resource.ts";
import type { Addresses } from "./addresses.ts";
import { type Pod, podType } from "./pod.ts";
import { savedAddress } from "./pod-folders.ts";
import { createPodRuntime, type PodRuntime, type PodRuntimeDeps } from "./pod-runtime.ts";
import { createStatusWriter } from "./status-writer.ts";

/** Makes each pod of this node what the API server says it should be. */
export interface PodLoop {
  /** Work on one key (`namespace/name`). */
  work(key: string, signal: AbortSignal): Promise<WorkResult | undefined>;
  /** Pods of this node, sorted by key. */
  runtimes(): readonly (readonly [key: string, runtime: PodRuntime])[];
  runtime(at: ObjectName): PodRuntime | undefined;
  /** Ends every process and reports that, so that no pod counts as ready while there is no node. */
  end(signal: AbortSignal): Promise<void>;
}

export interface PodLoopOptions extends Omit<PodRuntimeDeps, "onChange" | "nowMs"> {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly addresses: Addresses;
  readonly pod: (at: ObjectName) => Pod | undefined;
  /** Requests another run of the work for this key. */
  readonly again: (key: string, namespace: string) => void;
}

/** Grace period for processes without one of their own, in ms. */
const lastGraceMs = 3000;
/** How soon to check again whether something has ended, in ms, in case no event says so. */
const observeAgain: WorkResult = { requeueAfterMs: 1000 };

export function createPodLoop(options: PodLoopOptions): PodLoop {
  const { client, clock, addresses } = options;
  const runtimes = new Map<string, PodRuntime>();
  const statuses = createStatusWriter(client);

  const create = (key: string, pod: Pod): PodRuntime => {
    const known = savedAddress(options.directory, pod.metadata.uid) ?? pod.status?.podIP;
    if (known !== undefined) addresses.keep(known);
    const onChange = () => options.again(key, pod.metadata.namespace);
    const runtime = createPodRuntime(pod, known ?? addresses.take(), { ...options, nowMs: () => clock.now(), onChange });
    runtimes.set(key, runtime);
    return runtime;
  };
  const report = (pod: Pod, runtime: PodRuntime, signal: AbortSignal) => {
    const facts = { podIP: runtime.ip, startTime: rfc3339(millis(runtime.startedAtMs)), now: rfc3339(clock.now()) };
    return statuses.write(pod, { ...facts, views: runtime.views() }, signal);
  };
  const advance = async (key: string, pod: Pod, signal: AbortSignal): Promise<WorkResult> => {
    const runtime = runtimes.get(key) ?? create(key, pod);
    const requeueAfterMs = await runtime.step(pod, signal);
    await report(pod, runtime, signal);
    return { requeueAfterMs };
  };
  /** Ends what a pod runs. Returns true once nothing is left of it. */
  const finish = (key: string, runtime: PodRuntime, graceMs: number): boolean => {
    runtime.stop(graceMs);
    if (!runtime.isGone()) return false;
    runtime.remove();
    runtimes.delete(key);
    addresses.release(runtime.ip);
    statuses.forget(runtime.uid);
    return true;
  };
  const remove = async (key: string, pod: Pod, signal: AbortSignal): Promise<WorkResult | undefined> => {
    const runtime = runtimes.get(key);
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000;
    if (runtime !== undefined && !finish(key, runtime, graceMs)) return observeAgain;
    await client.delete(podType, pod.metadata, { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } }, signal);
    return undefined;
  };
  return {
    async work(key, signal) {
      const pod = options.pod(nameOf(key));
      const runtime = runtimes.get(key);
      // It is gone, or it is another pod of the same name, as StatefulSets create.
      if (runtime !== undefined && runtime.uid !== pod?.metadata.uid && !finish(key, runtime, lastGraceMs)) return observeAgain;
      if (pod === undefined) return undefined;
      if (pod.metadata.deletionTimestamp !== undefined) return await remove(key, pod, signal);
      if (!runtimes.has(key) && isOver(pod)) return undefined;
      return await advance(key, pod, signal);
    },
    runtimes: () => [...runtimes].sort(([a], [b]) => (a < b ? -1 : 1)),
    runtime: (at) => runtimes.get(keyOf(at)),
    async end(signal) {
      await Promise.all(
        [...runtimes].map(async ([key, runtime]) => {
          const hadProcess = await runtime.end(lastGraceMs);
          const pod = options.pod(nameOf(key));
          // If the API server does not answer, the next node will report it.
          if (hadProcess && pod?.metadata.uid === runtime.uid) await report(pod, runtime, signal).catch(() => undefined);
        }),
      );
    },
  };
}

export const keyOf = (at: ObjectName): string => `${at.namespace}/${at.name}`;

export function nameOf(key: string): ObjectName {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}

function isOver(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}
