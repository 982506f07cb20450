import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Log } from "../telemetry/log.ts";
import { CONTROLLER, PORTS } from "./manifests/names.ts";
import type { UsageSource } from "./port.ts";

/** What an instance costs. A part that could not be read now is absent. */
export interface MeasuredUsage {
  readonly clusterEntries: number | undefined;
  readonly controllerMemoryBytes: number | undefined;
}

export interface UsageDeps {
  /** `undefined`: the cluster is not declared, or its credentials do not exist. */
  readonly sourceOf: (engineCluster: string, signal: AbortSignal) => Promise<UsageSource | undefined>;
  readonly log: Log;
}

export type ReadUsage = (instances: readonly Instance[], signal: AbortSignal) => Promise<ReadonlyMap<InstanceId, MeasuredUsage>>;

/** How many instances are asked at once, and how long each may take, in ms: somebody waits for the whole. */
const AT_ONCE = 16;
const EACH_MS = 3_000;
/** How much of a metrics page is read at most, in characters. A page has a few hundred for each application. */
const LONGEST_PAGE = 32 * 2 ** 20;

/** The metric in which a Go program reports its resident memory, in bytes. */
export const RESIDENT_MEMORY = "process_resident_memory_bytes";

/** Measures what every instance costs. If one does not answer, only its own part is absent. */
export function createUsageReader({ sourceOf, log }: UsageDeps): ReadUsage {
  const orNothing = async <T>(what: string, instance: Instance, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      log.debug({ error, instance: instance.name, what }, "Reading what an instance costs");
      return undefined;
    }
  };
  const readOne = async (instance: Instance, signal: AbortSignal): Promise<MeasuredUsage> => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(EACH_MS)]);
    const source = await orNothing("cluster", instance, () => sourceOf(instance.engineCluster, limit));
    if (source === undefined) return { clusterEntries: undefined, controllerMemoryBytes: undefined };
    const [clusterEntries, controllerMemoryBytes] = await Promise.all([
      orNothing("cluster entries", instance, () => source.countClusterEntries(instance, limit)),
      orNothing("memory", instance, () => readMemory(source, instance, limit)),
    ]);
    return { clusterEntries, controllerMemoryBytes };
  };
  return async (instances, signal) => {
    const waiting = [...instances];
    const found = new Map<InstanceId, MeasuredUsage>();
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) found.set(next.id, await readOne(next, signal));
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, instances.length) }, work));
    return found;
  };
}

async function readMemory({ readMetrics }: UsageSource, { namespace }: Instance, signal: AbortSignal): Promise<number | undefined> {
  let length = 0;
  for await (const line of readMetrics({ namespace, pod: `${CONTROLLER}-0`, port: PORTS.controllerMetrics }, signal)) {
    const bytes = sampleOf(line, RESIDENT_MEMORY);
    length += line.length;
    if (bytes !== undefined || length > LONGEST_PAGE) return bytes;
  }
  return undefined;
}

/**
 * The value of a sample without labels, if a line of a metrics page (Prometheus text format) is that sample;
 * `undefined` for every other line. A page has many lines for each application, and only one is wanted here.
 */
export function sampleOf(line: string, name: string): number | undefined {
  if (!line.startsWith(`${name} `)) return undefined;
  const text = /^\d+(\.\d+)?([eE][+-]?\d+)?(?=\s|$)/.exec(line.slice(name.length + 1).trimStart())?.[0];
  const value = text === undefined ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}
