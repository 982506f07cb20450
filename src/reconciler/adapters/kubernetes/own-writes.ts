import type { Clock } from "../../../domain/clock.ts";
import type { ObjectAt, ObjectChange, ObservedObject } from "../../../shard/managed-object.ts";
import { isNewerVersion } from "../../../shard/parse-object.ts";

/** What was written through us and the watch has not shown yet. */
export interface OwnWrites<T extends ObservedObject> {
  /** The written object, while it is newer than what the watch has shown. */
  get(at: ObjectAt): T | undefined;
  /** Runs a write; changes seen of the object meanwhile are held back, and its own echo is left out. `cached`: what the watch shows. */
  write(at: ObjectAt, cached: (at: ObjectAt) => T | undefined, run: () => Promise<T>): Promise<T>;
  /** The object was deleted: what the watch shows counts again. */
  forget(at: ObjectAt): void;
  /** A change that the watch shows. */
  seen(change: ObjectChange<T>): void;
}

/** A watch that has not shown a write for this long is in trouble; believing the cache then costs a refused write at most. */
const TRUST_MS = 30_000;

interface UnderWay<T> {
  writes: number;
  readonly echoes: Set<string>;
  readonly held: ObjectChange<T>[];
}

interface Written<T> {
  readonly object: T;
  readonly atMs: number;
}

export function createOwnWrites<T extends ObservedObject>({
  clock,
  deliver,
}: {
  readonly clock: Clock;
  readonly deliver: (change: ObjectChange<T>) => void;
}): OwnWrites<T> {
  const written = new Map<string, Written<T>>();
  /** Changes seen of objects that are being written: whether one is a write's echo is known when the answer is. */
  const underWay = new Map<string, UnderWay<T>>();
  const keyOf = (at: ObjectAt): string => `${at.namespace}|${at.name}`;

  const begin = (key: string): UnderWay<T> => {
    const flight = underWay.get(key) ?? { writes: 0, echoes: new Set<string>(), held: [] };
    flight.writes += 1;
    underWay.set(key, flight);
    return flight;
  };

  const end = (key: string, flight: UnderWay<T>): void => {
    flight.writes -= 1;
    if (flight.writes > 0) return;
    underWay.delete(key);
    for (const change of flight.held) if (change.kind === "delete" || !flight.echoes.has(change.now.resourceVersion)) deliver(change);
  };

  return {
    get(at) {
      const entry = written.get(keyOf(at));
      if (entry === undefined) return undefined;
      if (clock.monotonicMs() - entry.atMs <= TRUST_MS) return entry.object;
      written.delete(keyOf(at));
      return undefined;
    },
    async write(at, cached, run) {
      const key = keyOf(at);
      const flight = begin(key);
      try {
        const object = await run();
        flight.echoes.add(object.resourceVersion);
        const shown = cached(at);
        const isShown = shown !== undefined && !isNewerVersion(object.resourceVersion, shown.resourceVersion);
        if (!isShown && !hasEnded(flight, object)) written.set(key, { object, atMs: clock.monotonicMs() });
        return object;
      } finally {
        end(key, flight);
      }
    },
    forget: (at) => void written.delete(keyOf(at)),
    seen(change) {
      const key = keyOf(change.at);
      const own = written.get(key)?.object;
      const isEcho = change.kind === "upsert" && own?.resourceVersion === change.now.resourceVersion;
      if (own !== undefined && (isEcho || isAfter(change, own))) written.delete(key);
      if (isEcho) return;
      const flight = underWay.get(key);
      if (flight === undefined) deliver(change);
      else flight.held.push(change);
    },
  };
}

/** Whether the watch has shown the end of the written object before the answer to the write came. */
function hasEnded<T extends ObservedObject>({ held }: UnderWay<T>, { uid }: T): boolean {
  return held.some((change) => change.kind === "delete" && change.before.uid === uid);
}

/** Whether a change happened after the write: a newer state of the same object, or its end. */
function isAfter<T extends ObservedObject>(change: ObjectChange<T>, own: T): boolean {
  return change.kind === "upsert" ? isNewerVersion(change.now.resourceVersion, own.resourceVersion) : change.before.uid === own.uid;
}
