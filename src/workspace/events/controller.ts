import type { Clock, Millis } from "../../domain/clock.ts";
import { GoneError, RefusedError } from "../../domain/errors.ts";
import { contentHash } from "../../domain/hash.ts";
import type { Rng } from "../../domain/rng.ts";
import type { Condition } from "../../domain/user-resource.ts";
import { createKeyedQueue } from "../../runtime/keyed-queue.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { ResourceAt, UserKindResources } from "../port.ts";
import { type Allowance, isWhole, OF_NAMESPACE, OF_REWORDING, type Rate, spend } from "./allowance.ts";
import { notificationsOf } from "./notifications.ts";
import type { EventRecorder, UserEvent } from "./port.ts";

export interface UserEventsDeps {
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

type Written = UserKindResources["patchStatus"];
type Seen = (at: ResourceAt) => { readonly uid: string; readonly conditions: readonly Condition[] } | undefined;

/** Tells the users of resources by Events what they can act on. */
export interface UserEvents {
  /** The same write of statuses, which tells by an Event what is news in them; `seen`: the resource as it is known before. */
  telling(kind: string, seen: Seen, write: Written): Written;
  start(): void;
  stop(): Promise<void>;
}

/** Written at once, and waiting to be: an Event more or less matters to nobody, a status waiting behind it would. */
const CONCURRENCY = 4;
const MOST_WAITING = 1000;
/** Events and namespaces that are remembered. */
const MOST_KNOWN = 5000;

export function createUserEvents(deps: UserEventsDeps): UserEvents {
  const { recorder, clock } = deps;
  const waiting = new Map<string, UserEvent>();
  const known = new Map<string, { readonly count: number; readonly firstAt: Millis }>();
  const [namespaces, rewordings] = [new Map<string, Allowance>(), new Map<string, Allowance>()];
  const dropped = deps.metrics.counter(
    "argosy_user_events_dropped_total",
    "Events for users that were not written: too many at once, or refused",
  );

  const isAllowed = (allowances: Map<string, Allowance>, key: string, rate: Rate): boolean => {
    const nowMs = clock.monotonicMs();
    const { isAllowed: is, after } = spend(allowances.get(key), nowMs, rate);
    allowances.set(key, after);
    if (allowances.size > MOST_KNOWN) for (const [other, each] of allowances) if (isWhole(each, nowMs, rate)) allowances.delete(other);
    return is;
  };

  const tell = (about: UserEvent["about"], before: readonly Condition[], after: readonly Condition[]): void => {
    const found = notificationsOf(before, after);
    if (found === undefined) return;
    const { isReworded, ...notifications } = found;
    const isWithinRate = !isReworded || isAllowed(rewordings, `${about.uid} ${notifications.reason}`, OF_REWORDING);
    if (waiting.size >= MOST_WAITING || !isWithinRate || !isAllowed(namespaces, about.namespace, OF_NAMESPACE)) return dropped.add(1);
    const digest = contentHash([about.uid, notifications]).slice(0, 16);
    const now = clock.now();
    const { count, firstAt } = known.get(digest) ?? { count: 0, firstAt: now };
    known.delete(digest);
    known.set(digest, { count: count + 1, firstAt });
    for (const oldest of known.size > MOST_KNOWN ? [known.keys().next().value ?? ""] : []) known.delete(oldest);
    waiting.set(digest, { about, ...notifications, digest, count: count + 1, firstAt, lastAt: now });
    queue.add(digest, { group: about.namespace });
  };

  const queue = createKeyedQueue({
    ...deps,
    name: "workspace-events",
    concurrency: CONCURRENCY,
    async work(digest, signal) {
      const event = waiting.get(digest);
      if (event === undefined) return;
      const isWritten = await recorder.record(event, signal).then(
        () => true,
        (error: unknown) => {
          // Its namespace is going or gone, or nobody may write Events there: no later try would do better.
          if (error instanceof RefusedError || error instanceof GoneError) return false;
          throw error;
        },
      );
      if (!isWritten) dropped.add(1);
      if (waiting.get(digest) === event) waiting.delete(digest);
    },
  });

  return {
    telling(kind, seen, write) {
      return async (resource, status, signal) => {
        const { namespace, name, uid } = resource;
        const before = seen(resource);
        await write(resource, status, signal);
        const { conditions = [] } = status as { readonly conditions?: readonly Condition[] };
        tell({ kind, namespace, name, uid }, before?.uid === uid ? before.conditions : [], conditions);
      };
    },
    start: queue.start,
    stop: queue.stop,
  };
}
