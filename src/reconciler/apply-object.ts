import type { Clock } from "../domain/clock.ts";
import { GoneError, StaleError, UnavailableError } from "../domain/errors.ts";
import { diffObject, type ObjectAction, planRemoval } from "../shard/diff-object.ts";
import type { DesiredObject, Fence, Manifest, ObjectAt, ObservedObject } from "../shard/managed-object.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ManagedObjects } from "./port.ts";

/** Where an object was brought to. `unsure`: it is not there, and a creation that nobody answered may land still. */
export type Settlement<T extends ObservedObject> =
  | Extract<ObjectAction<T>, { kind: "settled" | "gone" | "await-end" | "await-rest" }>
  | { readonly kind: "unsure" };

interface Target<T extends ObservedObject> {
  readonly objects: ManagedObjects<T>;
  readonly at: ObjectAt;
  /** What the metrics call it. */
  readonly name: string;
}

interface Task<T extends ObservedObject> extends Target<T> {
  /** Decides the next step from what is there. */
  readonly plan: (observed: T | undefined) => ObjectAction<T>;
}

/** Brings single objects to what they should be. */
export interface ObjectWriter {
  /**
   * Takes planned steps until the object is settled, gone, or has to be waited for. The first step is planned from the
   * cache. The cluster itself is asked after a refused write, and before an absence is believed.
   *
   * @throws StaleError when rows newer than ours were written, or others keep changing the object: read the rows again
   */
  apply<T extends ObservedObject>(task: Task<T>, signal: AbortSignal): Promise<Settlement<T>>;
  /** Makes it equal to what is desired. */
  put<T extends ObservedObject>(
    what: Omit<Target<T>, "at"> & { readonly desired: DesiredObject },
    signal: AbortSignal,
  ): Promise<Settlement<T>>;
  /** Removes it. With a `fence`: only what these rows, or older ones, had put there. */
  remove<T extends ObservedObject>(what: Target<T> & { readonly fence?: Fence | undefined }, signal: AbortSignal): Promise<Settlement<T>>;
}

/** A deletion by hand in the middle needs six; more means that something puts the object back all the time. */
const STEP_LIMIT = 8;

export interface ObjectWriterDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Log;
  readonly metrics: Metrics;
}

export function createObjectWriter(deps: ObjectWriterDeps): ObjectWriter {
  const unanswered = createUnanswered();
  const writes = deps.metrics.counter("argosy_reconciler_writes_total", "Objects written, by what they are and the kind of write.", [
    "object",
    "step",
  ]);
  const count = <T extends ObservedObject>({ name, at }: Task<T>, action: ObjectAction<T>): void => {
    if (action.kind === "gone") return;
    deps.log.debug({ object: name, at, step: action.kind, ...(action.kind === "change" ? { why: action.why } : {}) }, "Writing an object");
    writes.add(1, { object: name, step: action.kind });
  };
  /** Whoever gets no answer to a creation cannot learn by reading that it will not be carried out. */
  const create = async <T extends ObservedObject>(task: Task<T>, manifest: Manifest, signal: AbortSignal): Promise<T> => {
    const sentMs = deps.clock.monotonicMs();
    try {
      return await task.objects.create(manifest, signal);
    } catch (error) {
      if (error instanceof UnavailableError || signal.aborted) unanswered.lost(nameOf(task), sentMs);
      throw error;
    }
  };
  const writer: ObjectWriter = {
    async apply<T extends ObservedObject>(task: Task<T>, signal: AbortSignal): Promise<Settlement<T>> {
      let observed = task.objects.get(task.at);
      for (let step = 0; step < STEP_LIMIT; step += 1) {
        const action = task.plan(observed);
        const settlement = settlementOf(task, action, step > 0);
        if (settlement?.kind === "gone" && unanswered.mayLand(nameOf(task), deps.clock.monotonicMs())) return { kind: "unsure" };
        if (settlement !== undefined) return settlement;
        count(task, action);
        const write = takeStep(task.objects, action, (manifest) => create(task, manifest, signal), signal);
        observed = (await write) ?? (await task.objects.read(task.at, signal));
      }
      const context = { object: task.name, ...task.at };
      throw new StaleError("bringing an object to what it should be", { code: "reconciler.contested", context });
    },
    put<T extends ObservedObject>({ desired, ...what }: Omit<Target<T>, "at"> & { readonly desired: DesiredObject }, signal: AbortSignal) {
      const plan = (observed: T | undefined) => diffObject(desired, observed);
      return writer.apply({ ...what, at: desired.at, plan }, signal);
    },
    remove<T extends ObservedObject>({ fence, ...what }: Target<T> & { readonly fence?: Fence | undefined }, signal: AbortSignal) {
      const plan = (observed: T | undefined) => planRemoval(observed, fence);
      return writer.apply({ ...what, plan }, signal);
    },
  };
  return writer;
}

function nameOf({ name, at }: Pick<Task<never>, "name" | "at">): string {
  return `${name} ${at.namespace}/${at.name}`;
}

/** Where this leaves the object; `undefined` when there is a step to take. `isFresh`: the cluster itself was asked. */
function settlementOf<T extends ObservedObject>(task: Task<T>, action: ObjectAction<T>, isFresh: boolean): Settlement<T> | undefined {
  if (action.kind === "settled" || action.kind === "await-end" || action.kind === "await-rest") return action;
  // The watch may be behind a creation; what is forgotten on its word would stay for ever.
  if (action.kind === "gone") return isFresh ? action : undefined;
  if (action.kind !== "fenced") return undefined;
  const context = { object: task.name, ...task.at, epoch: action.by.epoch, revision: action.by.revision };
  throw new StaleError("writing an object that newer rows were written to", { code: "reconciler.fenced", context });
}

/** The object as written; `undefined` when the cluster has to be asked. */
async function takeStep<T extends ObservedObject>(
  objects: ManagedObjects<T>,
  action: ObjectAction<T>,
  create: (manifest: Manifest) => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    if (action.kind === "create") return await create(action.manifest);
    if (action.kind === "change") return await objects.patch(action.at, action.patch, signal);
    if (action.kind === "delete") await objects.delete(action.at, action.preconditions, signal);
    return undefined;
  } catch (error) {
    if (error instanceof StaleError) return undefined;
    // A creation meets a missing namespace only. What is changed may be gone itself, which asking will show.
    if (error instanceof GoneError && action.kind !== "create") return undefined;
    throw error;
  }
}

/** How long after it was sent a creation may land at most, in ms: API servers give a request up after a minute. */
export const MAY_LAND_MS = 60_000;

/** How soon to check again whether it has, in ms: the watch reports it too. */
export const UNSURE_AGAIN_MS = 5_000;

/** Creations that nobody answered, by what they are of. Times on a clock that only grows, in ms. */
export interface Unanswered {
  /** One that was sent then got no answer. That a later one is answered says nothing of it: it lands when the name is free again. */
  lost(object: string, sentMs: number): void;
  /** Whether one may land still: until then it says nothing that nothing is there. */
  mayLand(object: string, nowMs: number): boolean;
}

export function createUnanswered(): Unanswered {
  const since = new Map<string, number>();
  return {
    lost(object, sentMs) {
      since.set(object, sentMs);
      for (const [other, otherMs] of since) if (sentMs - otherMs >= MAY_LAND_MS) since.delete(other);
    },
    mayLand: (object, nowMs) => nowMs - (since.get(object) ?? Number.NEGATIVE_INFINITY) < MAY_LAND_MS,
  };
}

/**
 * Waits for all of them to end, then gives their results or throws the first failure in their order. Unlike `Promise.all`
 * it leaves nothing running behind a failure: a key must not be worked on again while writes of its last run are under way.
 */
export function allOrFirstFailure<const T extends readonly unknown[]>(work: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  return Promise.allSettled(work).then((ends) => {
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    return ends.map((end) => (end as PromiseFulfilledResult<unknown>).value) as { -readonly [K in keyof T]: Awaited<T[K]> };
  });
}
