import { systemClock } from "../../src/runtime/clock.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { createReflector } from "../../src/runtime/kube/reflector.ts";
import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import { systemRng } from "../../src/runtime/rng.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";

/** The objects of one kind as a watch shows them, each under a key made from its content. */
export interface Live<T> {
  get(key: string): T | undefined;
  size(): number;
  /** When (`performance.now()`) the watch first showed that this holds; at once if it does already. Rejects after a timeout. */
  until(key: string, isReached: (value: T | undefined) => boolean): Promise<number>;
}

interface Waiter<T> {
  readonly isReached: (value: T | undefined) => boolean;
  readonly resolve: (at: number) => void;
}

export interface LiveOptions<T> {
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly labelSelector?: string;
  readonly keyOf: (object: KubeObject) => string;
  readonly read: (object: KubeObject) => T;
}

/** Timeout of anything that is measured, in ms. After that the run is worthless. */
const TIMEOUT_MS = 180_000;

/** Watches until the signal aborts. Resolves once everything has been listed. */
export async function watchLive<T>(options: LiveOptions<T>, signal: AbortSignal): Promise<Live<T>> {
  const { client, type, labelSelector, keyOf, read } = options;
  const values = new Map<string, T>();
  const waiting = new Map<string, Set<Waiter<T>>>();

  const set = (key: string, value: T | undefined): void => {
    if (value === undefined) values.delete(key);
    else values.set(key, value);
    const at = performance.now();
    for (const waiter of waiting.get(key) ?? []) if (waiter.isReached(value)) waiter.resolve(at);
  };
  const reflector = createReflector<{ readonly key: string; readonly value: T }>({
    ...{ client, type, clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics },
    ...(labelSelector === undefined ? {} : { labelSelector }),
    project: (object) => ({ key: keyOf(object), value: read(object) }),
    onChange(change) {
      if (change.kind === "delete") return set(change.before.key, undefined);
      if (change.before !== undefined && change.before.key !== change.now.key) set(change.before.key, undefined);
      set(change.now.key, change.now.value);
    },
  });
  reflector.start(signal);
  await reflector.synced(signal);

  return {
    get: (key) => values.get(key),
    size: () => values.size,
    until(key, isReached) {
      if (isReached(values.get(key))) return Promise.resolve(performance.now());
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", onAbort);
          waiters.delete(waiter);
          if (waiters.size === 0) waiting.delete(key);
        };
        const fail = (reason: unknown): void => {
          settle();
          reject(reason);
        };
        const onAbort = (): void => fail(signal.reason);
        const timer = setTimeout(() => fail(new Error(`${type.kind} ${key} did not get there in ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
        const waiter: Waiter<T> = {
          isReached,
          resolve(at) {
            settle();
            resolve(at);
          },
        };
        const waiters = waiting.get(key) ?? new Set();
        waiting.set(key, waiters.add(waiter));
        signal.addEventListener("abort", onAbort, { once: true });
      });
    },
  };
}
