import type { Log, LogFields } from "../../telemetry/log.ts";
import type { ObjectCache, ReflectorChange } from "./object-cache.ts";
import { objectNameOf } from "./object-cache.ts";
import type { ReflectorFailure, ReflectorMeter } from "./reflector-meter.ts";
import type { KubeObject, ObjectName } from "./resource.ts";

export interface ObjectFeedOptions<T> {
  readonly cache: ObjectCache<T>;
  readonly project: (object: KubeObject, before: T | undefined) => T | undefined;
  readonly onChange: (change: ReflectorChange<T>) => void;
  readonly meter: ReflectorMeter;
  readonly log: Log;
  readonly names: LogFields;
}

export interface ObjectFeed {
  put(object: KubeObject): void;
  remove(at: ObjectName): void;
  /** Removes everything whose key was not seen in a complete list. */
  sweep(seen: ReadonlySet<string>): void;
}

/**
 * Brings objects into the cache and tells the owner what changed. What the owner's functions throw is counted and logged: a fault there
 * costs one object one event, never the stream.
 */
export function createObjectFeed<T>(options: ObjectFeedOptions<T>): ObjectFeed {
  const { cache, project, onChange, meter, log, names } = options;

  function guarded<R>(kind: ReflectorFailure, at: ObjectName, run: () => R): R | undefined {
    try {
      return run();
    } catch (error) {
      meter.failure(kind);
      log.error(
        { ...names, ...at, error },
        kind === "handler" ? "Skipping a change whose handler threw" : "Keeping the former state of an object whose projection threw",
      );
      return undefined;
    }
  }

  function report(at: ObjectName, change: ReflectorChange<T> | undefined): void {
    if (change !== undefined) guarded("handler", at, () => onChange(change));
  }

  function remove(at: ObjectName): void {
    report(at, cache.remove(at));
  }

  return {
    put(object) {
      const at = objectNameOf(object);
      report(
        at,
        guarded("projection", at, () => cache.put(object, project)),
      );
    },
    remove,
    sweep(seen) {
      for (const at of cache.namesExcept(seen)) remove(at);
    },
  };
}
