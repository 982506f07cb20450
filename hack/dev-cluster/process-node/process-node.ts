import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { type Clock, rfc3339 } from "../../../src/domain/clock.ts";
import { millis } from "../../../src/domain/clock.ts";
import type { Rng } from "../../../src/domain/rng.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import { createReflector } from "../../../src/runtime/kube/reflector.ts";
import type { ObjectName } from "../../../src/runtime/kube/resource.ts";
import { createKeyedQueue, type WorkResult } from "../../../src/runtime/keyed-queue.ts";
import type { Log } from "../../../src/telemetry/log.ts";
import type { Metrics } from "../../../src/telemetry/metrics.ts";
import { findProcess, stopProcess } from "../processes/process.ts";
import { createAddresses } from "./addresses.ts";
import { type CrashBackoff, developmentBackoff } from "./backoff.ts";
import type { Endpoint } from "./forwarder.ts";
import type { LaunchDeps } from "./launch-container.ts";
import { registerNode } from "./node-object.ts";
import { type Pod, podType, type Service, type ServicePort, serviceType } from "./pod.ts";
import { createPodRuntime, podDirectory, type PodRuntime, savedAddress } from "./pod-runtime.ts";
import { portOf } from "./probe.ts";
import type { Catalogue } from "./programs/catalogue.ts";
import { createServiceForwarders } from "./service-forwarders.ts";
import { createStatusWriter } from "./status-writer.ts";

/** A kubelet for development: pods become local processes, without privileges and without a container engine. */
export interface ProcessNode {
  readonly name: string;
  /** Registers the node and begins; what an earlier node left running in the same directory is taken over. */
  start(signal: AbortSignal): Promise<void>;
  /** Processes that run now, in the order of namespace and pod. */
  processes(): readonly NodeProcess[];
  /** Ends all processes, or leaves them for a successor. */
  stop(options?: { readonly leaveProcesses?: boolean }): Promise<void>;
}

export interface NodeProcess {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly pid: number;
}

export interface ProcessNodeOptions extends Pick<LaunchDeps, "apiServer" | "endsWithUs"> {
  readonly name: string;
  /** Pods' files, logs and addresses. */
  readonly directory: string;
  readonly client: KubeClient;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly backoff?: CrashBackoff;
}

const memoryCheckMs = 1000;
/** For processes that nobody grants a time any more, in ms. */
const lastGraceMs = 3000;

export function createProcessNode(options: ProcessNodeOptions): ProcessNode {
  const { client, clock, rng, log, metrics } = options;
  mkdirSync(join(options.directory, "pods"), { recursive: true });
  const runtimes = new Map<string, PodRuntime>();
  const addresses = createAddresses();
  const statuses = createStatusWriter(client);
  const life = new AbortController();
  let ticker: NodeJS.Timeout | undefined;
  const toolkit = { clock, rng, log, metrics };
  const keyOf = (at: ObjectName) => `${at.namespace}/${at.name}`;
  const queue = createKeyedQueue({ name: "process-node", concurrency: 64, work, ...toolkit, backoff: { minMs: 200, maxMs: 10_000 } });
  const pods = createReflector<Pod>({
    ...{ client, type: podType, fieldSelector: `spec.nodeName=${options.name}`, ...toolkit },
    project: (object) => withoutFieldOwners(object as Pod),
    onChange: (change) => queue.add(keyOf(change.at), { group: change.at.namespace }),
  });
  const services = createReflector<Service>({
    ...{ client, type: serviceType, ...toolkit },
    project: (object) => object as Service,
    onChange: (change) => forwarders.changed(change.at),
  });
  const forwarders = createServiceForwarders({
    file: join(options.directory, "services.json"),
    addresses,
    service: (name) => services.get(name),
    targets,
    log,
  });

  function targets(service: Service, port: ServicePort): readonly Endpoint[] {
    const selector = Object.entries(service.spec.selector ?? {});
    const namespace = service.metadata.namespace ?? "";
    if (selector.length === 0) return [];
    return pods.list(namespace).flatMap((pod) => {
      const runtime = runtimes.get(keyOf({ namespace, name: pod.metadata.name }));
      const isTarget =
        runtime?.uid === pod.metadata.uid &&
        selector.every(([label, value]) => pod.metadata.labels?.[label] === value) &&
        runtime.views().every(({ isReady }) => isReady);
      const to = isTarget
        ? pod.spec.containers.map((container) => portOf(port.targetPort ?? port.port, container)).find((found) => found !== undefined)
        : undefined;
      return runtime === undefined || to === undefined ? [] : [{ host: runtime.ip, port: to }];
    });
  }

  async function work(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const [namespace = "", name = ""] = key.split("/");
    const pod = pods.get({ namespace, name });
    const left = runtimes.get(key);
    if (left !== undefined && left.uid !== pod?.metadata.uid && !finish(key, left, lastGraceMs)) return { requeueAfterMs: 1000 };
    if (pod === undefined) return;
    const runtime = runtimes.get(key);
    if (pod.metadata.deletionTimestamp !== undefined) {
      const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000;
      if (runtime !== undefined && !finish(key, runtime, graceMs)) return { requeueAfterMs: 1000 };
      await client.delete(podType, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } }, signal);
      return;
    }
    if (runtime === undefined && isOver(pod)) return;
    return await advance(key, pod, signal);
  }

  async function advance(key: string, pod: Pod, signal: AbortSignal): Promise<WorkResult> {
    const runtime = runtimes.get(key) ?? createRuntime(key, pod);
    const requeueAfterMs = await runtime.step(pod, signal);
    const facts = { podIP: runtime.ip, startTime: rfc3339(millis(runtime.startedAtMs)), now: rfc3339(clock.now()) };
    await statuses.write(pod, facts, runtime.views(), signal);
    return { requeueAfterMs };
  }

  function createRuntime(key: string, pod: Pod): PodRuntime {
    const known = savedAddress(options.directory, pod.metadata.uid) ?? pod.status?.podIP;
    if (known !== undefined) addresses.keep(known);
    const onChange = () => queue.add(key, { group: pod.metadata.namespace });
    const deps = {
      ...options,
      backoff: options.backoff ?? developmentBackoff,
      addressOf: forwarders.addressOf,
      nowMs: () => clock.now(),
      onChange,
    };
    const runtime = createPodRuntime(pod, known ?? addresses.take(), deps);
    runtimes.set(key, runtime);
    return runtime;
  }

  /** Ends what a pod runs; true once there is nothing left of it. */
  function finish(key: string, runtime: PodRuntime, graceMs: number): boolean {
    runtime.stop(graceMs);
    if (!runtime.isGone()) return false;
    runtime.remove();
    runtimes.delete(key);
    addresses.release(runtime.ip);
    statuses.forget(runtime.uid);
    return true;
  }

  return {
    name: options.name,
    async start(signal) {
      await registerNode(client, options.name, signal);
      pods.start(life.signal);
      services.start(life.signal);
      await Promise.all([pods.synced(signal), services.synced(signal)]);
      await endStrangers(
        options.directory,
        new Set(pods.list().map(({ metadata }) => basename(podDirectory(options.directory, metadata.uid)))),
      );
      queue.start();
      ticker = setInterval(
        () => runtimes.forEach((runtime) => runtime.containers().forEach((container) => container.checkMemory())),
        memoryCheckMs,
      );
    },
    processes: () => [...runtimes].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([key, runtime]) => processesOf(key, runtime)),
    async stop(how = {}) {
      clearInterval(ticker);
      life.abort();
      await Promise.all([queue.stop(), pods.stopped(), services.stopped()]);
      await Promise.all(
        [...runtimes.values()].map((runtime) => (how.leaveProcesses === true ? runtime.detach() : runtime.end(lastGraceMs))),
      );
      await forwarders.close();
    },
  };
}

function withoutFieldOwners(pod: Pod): Pod {
  const { managedFields: _owners, ...metadata } = pod.metadata as Pod["metadata"] & { readonly managedFields?: unknown };
  return { ...pod, metadata };
}

function isOver(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

function processesOf(key: string, runtime: PodRuntime): readonly NodeProcess[] {
  const [namespace = "", pod = ""] = key.split("/");
  return [...runtime.containers()].flatMap(([container, { run }]) => {
    const pid = run()?.pid;
    return pid === undefined ? [] : [{ namespace, pod, container, pid }];
  });
}

/** Ends the processes of pods that went while no node was there to see it. */
async function endStrangers(directory: string, known: ReadonlySet<string>): Promise<void> {
  const strangers = readdirSync(join(directory, "pods")).filter((name) => !known.has(name));
  for (const stranger of strangers.map((name) => join(directory, "pods", name))) {
    for (const container of readdirSync(stranger)) {
      const process = findProcess(join(stranger, container, "run"));
      if (process !== undefined) await stopProcess(process, lastGraceMs);
    }
    rmSync(stranger, { recursive: true, force: true });
  }
}
