import type { Clock } from "../../domain/clock.ts";
import { DefectError, UnavailableError } from "../../domain/errors.ts";
import type { Rng } from "../../domain/rng.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { sleep } from "../clock.ts";
import type { KubeClient } from "./client.ts";
import { listInPages } from "./list.ts";
import type { ObjectCache, ReflectorChange } from "./object-cache.ts";
import { createObjectCache, objectNameOf } from "./object-cache.ts";
import type { ObjectFeed } from "./object-feed.ts";
import { createObjectFeed } from "./object-feed.ts";
import type { ReflectorMeter } from "./reflector-meter.ts";
import { createReflectorMeter } from "./reflector-meter.ts";
import type { Pace } from "./reflector-pace.ts";
import { paceAfterEnd, paceAfterError } from "./reflector-pace.ts";
import type { KubeObject, ObjectName, ResourceType } from "./resource.ts";
import { resourcePath } from "./resource.ts";
import { abandonable } from "./signals.ts";
import type { StreamEvent } from "./watch-event.ts";
import { readWatchStream } from "./watch-stream.ts";

export type { ReflectorChange } from "./object-cache.ts";

export interface ReflectorOptions<T> {
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Reduces an object on arrival; `undefined` leaves it out of the cache. `before`: what it made of the object last. */
  readonly project: (object: KubeObject, before: T | undefined) => T | undefined;
  /** Called after the cache has changed. What it throws is caught, counted and logged. */
  readonly onChange: (change: ReflectorChange<T>) => void;
  /** Called when the server says something again after nobody had got to it; never before the first complete list. */
  readonly onReturn?: () => void;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Objects per page of a list; default 500. */
  readonly pageSize?: number;
  /** How long a watch may say nothing before it is opened again, in ms; default 120,000, twice the interval of bookmarks. */
  readonly idleMs?: number;
}

export interface Reflector<T> {
  /** Begins to list and watch until the signal is aborted. Once only. */
  start(signal: AbortSignal): void;
  /** Resolves after the first complete list; rejects with `UnavailableError` if the reflector is stopped before. */
  synced(signal: AbortSignal): Promise<void>;
  isSynced(): boolean;
  get(at: ObjectName): T | undefined;
  /** In the order of namespace and name. */
  list(namespace?: string): readonly T[];
  /** Time since the server last said something about these objects, in ms; infinite before the first complete list. */
  stalenessMs(): number;
  /** Resolves when the loop has ended after the signal was aborted: `onChange` is not called any more. */
  stopped(): Promise<void>;
}

/**
 * Keeps a projection of all objects of one kind as they are on the server: a paged list, then a watch that is resumed from the last
 * version it saw whatever breaks it. Only when the server has forgotten that version (410) or the kind (404) is everything listed again, and
 * what is missing then is reported as deleted. Back-off grows with each failure in a row and starts anew only after a watch has worked.
 */
export function createReflector<T>(options: ReflectorOptions<T>): Reflector<T> {
  const { client, type, clock } = options;
  const names = { cluster: client.cluster, resource: type.group === "" ? type.plural : `${type.plural}.${type.group}` };
  const cache = createObjectCache<T>(client.cluster);
  const meter = createReflectorMeter(options.metrics, { ...names, clock });
  const feed = createObjectFeed({ ...options, cache, meter, names });
  const firstList = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  // Nobody has to be waiting for it when it is rejected.
  firstList.promise.catch(() => {});
  let contactAt = Number.NEGATIVE_INFINITY;
  let isSynced = false;
  let isLost = false;
  let isStarted = false;

  function onContact(): void {
    contactAt = clock.monotonicMs();
    meter.contact(cache.size());
    if (isLost && isSynced) options.onReturn?.();
    isLost = false;
  }

  /** A server that answers with an error is there. */
  function onFailure(error: unknown): void {
    isLost ||= error instanceof UnavailableError && error.context["status"] === undefined;
  }

  function onListed(): void {
    onContact();
    meter.relist();
    isSynced = true;
    firstList.resolve();
  }

  async function run(signal: AbortSignal): Promise<void> {
    await followObjects({ ...options, cache, feed, meter, names, onContact, onFailure, onListed }, signal);
    meter.end();
    firstList.reject(new UnavailableError("Waiting for the first list", { code: "kube.reflector-stopped", context: names }));
    ended.resolve();
  }

  return {
    start(signal) {
      if (isStarted) throw new DefectError("Starting a reflector", { code: "kube.reflector-started", context: names });
      isStarted = true;
      void run(signal);
    },
    synced: (signal) => abandonable(firstList.promise, signal),
    isSynced: () => isSynced,
    get: cache.get,
    list: cache.list,
    stalenessMs: () => clock.monotonicMs() - contactAt,
    stopped: () => ended.promise,
  };
}

interface Following<T> extends ReflectorOptions<T> {
  readonly cache: ObjectCache<T>;
  readonly feed: ObjectFeed;
  readonly meter: ReflectorMeter;
  readonly names: { readonly cluster: string; readonly resource: string };
  readonly onContact: () => void;
  readonly onFailure: (error: unknown) => void;
  readonly onListed: () => void;
}

/** Lists and watches in turns until the signal is aborted; never rejects. */
async function followObjects<T>(following: Following<T>, signal: AbortSignal): Promise<void> {
  const { clock, rng } = following;
  let version: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    const turn = { failures, progressed: false, isListing: version === undefined };
    let pace: Pace;
    try {
      version ??= await listOnce(following, signal);
      turn.isListing = false;
      const startedAt = clock.monotonicMs();
      const onProgress = (now: string) => {
        version = now;
        turn.progressed = true;
      };
      await watchOnce(following, { since: version, onProgress }, signal);
      pace = paceAfterEnd({ ...turn, livedMs: clock.monotonicMs() - startedAt, random: rng.next() });
    } catch (error) {
      if (signal.aborted) return;
      following.onFailure(error);
      pace = paceAfterError(error, { ...turn, random: rng.next() });
      tellFailure(following, { error, pace, isListing: turn.isListing });
    }
    failures = pace.failures;
    if (pace.mustRelist) version = undefined;
    // Aborting the wait ends the loop; there is nothing to tell anybody.
    if (pace.waitMs > 0) await sleep(clock, pace.waitMs, signal).catch(() => {});
  }
}

async function listOnce<T>(following: Following<T>, signal: AbortSignal): Promise<string> {
  const { client, type, cache, feed, pageSize } = following;
  const seen = new Set<string>();
  const onObject = (object: KubeObject) => {
    seen.add(cache.key(objectNameOf(object)));
    feed.put(object);
  };
  const resourceVersion = await listInPages(
    { client, type, options: { ...selectionOf(following), limit: pageSize ?? 500 }, onObject },
    signal,
  );
  feed.sweep(seen);
  following.onListed();
  return resourceVersion;
}

async function watchOnce<T>(
  following: Following<T>,
  from: { readonly since: string; readonly onProgress: (version: string) => void },
  signal: AbortSignal,
): Promise<void> {
  const { client, type, clock, rng, feed, meter, idleMs, onContact } = following;
  const { namespace, ...selectors } = selectionOf(following);
  // Spread, so that the watches of a process that started at once do not all end at once for ever.
  const timeoutSeconds = 300 + Math.floor(rng.next() * 301);
  const query = { watch: true, allowWatchBookmarks: true, resourceVersion: from.since, timeoutSeconds, ...selectors };
  const path = resourcePath(type, namespace === undefined ? {} : { namespace });
  const onEvent = (event: StreamEvent) => {
    if (event.kind === "upsert") feed.put(event.object);
    else if (event.kind === "delete") feed.remove(objectNameOf(event.object));
    from.onProgress(event.resourceVersion);
    meter.event(event.kind);
    onContact();
  };
  await readWatchStream({ client, clock, path, query, idleMs: idleMs ?? 120_000, onEvent }, signal);
}

function tellFailure<T>(
  { meter, log, names }: Following<T>,
  failure: { readonly error: unknown; readonly pace: Pace; readonly isListing: boolean },
): void {
  const { error, pace, isListing } = failure;
  meter.failure(isListing ? "list" : "watch");
  const isOurs = error instanceof DefectError || !(error instanceof Error && "context" in error);
  log[isOurs ? "error" : "warn"](
    { ...names, error, waitMs: pace.waitMs, failures: pace.failures },
    pace.mustRelist ? "Listing again" : "Resuming the watch",
  );
}

function selectionOf<T>({ namespace, labelSelector, fieldSelector }: ReflectorOptions<T>) {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
