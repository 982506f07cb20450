import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Clock } from "../../../src/domain/clock.ts";
import type { Rng } from "../../../src/domain/rng.ts";
import { createKeyedQueue } from "../../../src/runtime/keyed-queue.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import { createReflector } from "../../../src/runtime/kube/reflector.ts";
import type { Log } from "../../../src/telemetry/log.ts";
import type { Metrics } from "../../../src/telemetry/metrics.ts";
import { createAddresses } from "./addresses.ts";
import { type CrashBackoff, developmentBackoff } from "./backoff.ts";
import { endStrangers } from "./leftovers.ts";
import { registerNode } from "./node-object.ts";
import { type Pod, podType, type Service, serviceType } from "./pod.ts";
import { containerLog, podDirectory } from "./pod-folders.ts";
import { createPodLoop, keyOf, nameOf, type PodLoop } from "./pod-loop.ts";
import type { PodRuntimeDeps } from "./pod-runtime.ts";
import { createServiceForwarders, type ServiceForwarders } from "./service-forwarders.ts";
import { targetsOf } from "./service-targets.ts";

/** A kubelet for development. Pods become local processes, without privileges and without a container engine. */
export interface ProcessNode {
  readonly name: string;
  /** Creates the Node and begins. Processes that an earlier node has left in the same directory are taken over. */
  start(signal: AbortSignal): Promise<void>;
  /** Processes that run now, sorted by namespace and pod. */
  processes(): readonly NodeProcess[];
  /** Ends all processes, or leaves them for a successor. */
  stop(options?: { readonly leaveProcesses?: boolean }): Promise<void>;
}

export interface NodeProcess {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly pid: number;
  /** File with its whole log, that of predecessors with the same name included. */
  readonly log: string;
}

export interface ProcessNodeOptions extends Pick<PodRuntimeDeps, "catalogue" | "apiServer" | "endsWithUs"> {
  readonly name: string;
  /** Pods' files, logs and addresses. */
  readonly directory: string;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly backoff?: CrashBackoff;
}

const memoryCheckMs = 1000;
/** How long the end of the processes and its report may take, in ms. */
const lastWordMs = 10_000;

export function createProcessNode(options: ProcessNodeOptions): ProcessNode {
  mkdirSync(join(options.directory, "pods"), { recursive: true });
  const parts = assemble(options);
  const life = new AbortController();
  let ticker: NodeJS.Timeout | undefined;
  return {
    name: options.name,
    async start(signal) {
      await registerNode(options.client, options.name, signal);
      parts.pods.start(life.signal);
      parts.services.start(life.signal);
      await Promise.all([parts.pods.synced(signal), parts.services.synced(signal)]);
      await endStrangers(
        options.directory,
        new Set(parts.pods.list().map(({ metadata }) => basename(podDirectory(options.directory, metadata.uid)))),
      );
      parts.queue.start();
      ticker = setInterval(() => checkMemory(parts.loop), memoryCheckMs);
    },
    processes: () => processesOf(options.directory, parts.loop),
    async stop(how = {}) {
      clearInterval(ticker);
      life.abort();
      await Promise.all([parts.queue.stop(), parts.pods.stopped(), parts.services.stopped()]);
      if (how.leaveProcesses === true) await Promise.all(parts.loop.runtimes().map(([, runtime]) => runtime.detach()));
      else await parts.loop.end(AbortSignal.timeout(lastWordMs));
      await parts.forwarders.close();
    },
  };
}

/** Watches, queue and loop, which refer to each other. */
function assemble(options: ProcessNodeOptions) {
  const { client, clock, rng, log, metrics } = options;
  const toolkit = { clock, rng, log, metrics };
  const addresses = createAddresses();
  const queue = createKeyedQueue({
    ...{ name: "process-node", concurrency: 64, backoff: { minMs: 200, maxMs: 10_000 }, ...toolkit },
    work: async (key, signal) => await loop.work(key, signal),
  });
  const again = (key: string, namespace: string) => queue.add(key, { group: namespace });
  const pods = createReflector<Pod>({
    ...{ client, type: podType, fieldSelector: `spec.nodeName=${options.name}`, ...toolkit },
    project: (object) => withoutFieldOwners(object as Pod),
    onChange: ({ at }) => again(keyOf(at), at.namespace),
  });
  const services = createReflector<Service>({
    ...{ client, type: serviceType, ...toolkit },
    project: (object) => object as Service,
    onChange: ({ at }) => forwarders.changed(at),
  });
  const forwarders: ServiceForwarders = createServiceForwarders({
    ...{ file: join(options.directory, "services.json"), addresses, log },
    service: (name) => services.get(name),
    targets: (service, port) =>
      targetsOf({ service, port, pods: pods.list(service.metadata.namespace), runtime: (at) => loop.runtime(at) }),
  });
  const loop: PodLoop = createPodLoop({
    ...{ ...options, addresses, again, backoff: options.backoff ?? developmentBackoff },
    addressOf: (name) => forwarders.addressOf(name),
    nameServer: (namespace) => forwarders.nameServer(namespace),
    pod: (at) => pods.get(at),
  });
  return { queue, pods, services, forwarders, loop };
}

function checkMemory(loop: PodLoop): void {
  for (const [, runtime] of loop.runtimes()) for (const container of runtime.containers().values()) container.checkMemory();
}

function processesOf(directory: string, loop: PodLoop): readonly NodeProcess[] {
  return loop.runtimes().flatMap(([key, runtime]) => {
    const { namespace, name } = nameOf(key);
    return [...runtime.containers()].flatMap(([container, { run }]) => {
      const pid = run()?.pid;
      return pid === undefined
        ? []
        : [{ namespace, pod: name, container, pid, log: containerLog(directory, { namespace, name }, container) }];
    });
  });
}

/** `managedFields` is half of an object, and a node does not need it. */
function withoutFieldOwners(pod: Pod): Pod {
  const { managedFields: _owners, ...metadata } = pod.metadata as Pod["metadata"] & { readonly managedFields?: unknown };
  return { ...pod, metadata };
}
