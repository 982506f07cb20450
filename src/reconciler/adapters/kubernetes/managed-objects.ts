import type { Clock } from "../../../domain/clock.ts";
import { DefectError, RefusedError, StaleError } from "../../../domain/errors.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createReflector } from "../../../runtime/kube/reflector.ts";
import type { KubeObject, ResourceType } from "../../../runtime/kube/resource.ts";
import type { ObjectAt, ObjectChange, ObservedObject } from "../../../shard/managed-object.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import type { ManagedObjects } from "../../port.ts";
import { createGroupedObjects } from "./grouped-objects.ts";
import { createOwnWrites } from "./own-writes.ts";

export interface ManagedObjectsOptions<T extends ObservedObject> {
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly labelSelector: string;
  /** `before`: what it made of the object last, as the watch showed it. */
  readonly parse: (raw: unknown, before?: T) => T | undefined;
  /** By what `listGroup` finds them; absent: it finds none. It depends on nothing but the object. */
  readonly groupOf?: (object: T) => string | undefined;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface WatchedObjects<T extends ObservedObject> extends ManagedObjects<T> {
  start(signal: AbortSignal): void;
  isSynced(): boolean;
  synced(signal: AbortSignal): Promise<void>;
  stopped(): Promise<void>;
  /** Calls `listener` when the cluster says something again after nobody had got to it. Returned: the end of it. */
  onReturn(listener: () => void): () => void;
  /** Those of one group, as the watch shows them, in the order of their places. Costs as much as these are, not as all are. */
  listGroup(key: string): readonly T[];
}

/** Watches the objects of one kind that a selector picks, and writes to them. */
export function createManagedObjects<T extends ObservedObject>(options: ManagedObjectsOptions<T>): WatchedObjects<T> {
  const { client, type, parse, clock } = options;
  const listeners = new Set<(change: ObjectChange<T>) => void>();
  const own = createOwnWrites<T>({ clock, deliver: (change) => listeners.forEach((listener) => listener(change)) });
  const grouped = createGroupedObjects<T>(options.groupOf ?? (() => undefined));
  const onChange = (change: ObjectChange<T>): void => {
    grouped.seen(change);
    own.seen(change);
  };
  const returns = new Set<() => void>();
  const onReturn = (): void => returns.forEach((listener) => listener());
  const reflector = createReflector<T>({ ...options, project: parse, onChange, onReturn });

  const parsed = (at: ObjectAt, raw: unknown): T => {
    const observed = parse(raw);
    if (observed === undefined)
      throw new DefectError("reading an object that was just written", {
        code: "reconciler.unreadable",
        context: { kind: type.kind, ...at },
      });
    return observed;
  };

  return {
    start: reflector.start,
    isSynced: reflector.isSynced,
    synced: reflector.synced,
    stopped: reflector.stopped,
    onReturn(listener) {
      returns.add(listener);
      return () => void returns.delete(listener);
    },
    get: (at) => own.get(at) ?? reflector.get(at),
    list: (namespace) => reflector.list(namespace),
    listGroup: grouped.list,
    async read(at, signal) {
      const raw = await client.get<KubeObject>(type, at, signal);
      return raw === undefined ? undefined : parsed(at, raw);
    },
    create(manifest, signal) {
      const at = { namespace: manifest.metadata.namespace ?? "", name: manifest.metadata.name };
      return own.write(at, reflector.get, async () => parsed(at, await client.create<KubeObject>(type, manifest, signal)));
    },
    patch(at, patch, signal) {
      return own.write(at, reflector.get, async () => parsed(at, await tested(client.jsonPatch<KubeObject>(type, at, patch, signal))));
    },
    async delete(at, preconditions, signal) {
      await client.delete(type, at, { preconditions, propagationPolicy: "Background" }, signal);
      own.forget(at);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A patch whose tests did not hold met another object, or another state of it, than it was made for. */
async function tested<R>(answer: Promise<R>): Promise<R> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof RefusedError) || error.code !== "kube.test-failed") throw error;
    throw new StaleError("changing an object that has changed meanwhile", {
      code: "reconciler.test-failed",
      context: error.context,
      cause: error,
    });
  }
}
