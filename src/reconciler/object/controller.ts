import type { Clock } from "../../domain/clock.ts";
import { GoneError, StaleError, UnavailableError } from "../../domain/errors.ts";
import type { ObjectAction } from "../../shard/diff-object.ts";
import type { Manifest, ObjectAt, ObservedObject } from "../../shard/managed-object.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { ManagedObjects } from "../port.ts";
import { createUnanswered } from "./unanswered.ts";

/** Where an object was brought to. `unsure`: it is not there, and a creation that nobody answered may land still. */
export type Settlement<T extends ObservedObject> =
  | Extract<ObjectAction<T>, { kind: "settled" | "gone" | "await-end" | "await-rest" }>
  | { readonly kind: "unsure" };

interface Task<T extends ObservedObject> {
  readonly objects: ManagedObjects<T>;
  readonly at: ObjectAt;
  /** Decides the next step from what is there. */
  readonly plan: (observed: T | undefined) => ObjectAction<T>;
  /** What the metrics call it. */
  readonly name: string;
}

/** Carries out plans for single objects. */
export interface Carrier {
  /**
   * Takes planned steps until the object is settled, gone, or has to be waited for. The first step is planned from the
   * cache; after a refused write, and before an absence is believed, the cluster itself is asked.
   *
   * @throws StaleError when rows newer than ours were written, or others keep changing the object: read the rows again
   */
  carryOut<T extends ObservedObject>(task: Task<T>, signal: AbortSignal): Promise<Settlement<T>>;
}

/** A deletion by hand in the middle needs six; more means that something puts the object back all the time. */
const STEP_LIMIT = 8;

export function createCarrier(deps: { readonly clock: Pick<Clock, "monotonicMs">; readonly log: Log; readonly metrics: Metrics }): Carrier {
  const unanswered = createUnanswered();
  const writes = deps.metrics.counter("argosy_reconciler_writes_total", "Objects written, by what they are and the kind of write.", [
    "object",
    "step",
  ]);
  const tell = <T extends ObservedObject>({ name, at }: Task<T>, action: ObjectAction<T>): void => {
    if (action.kind === "gone") return;
    deps.log.debug({ object: name, at, step: action.kind, ...(action.kind === "change" ? { why: action.why } : {}) }, "Writing an object");
    writes.add(1, { object: name, step: action.kind });
  };
  /** Whoever gets no answer to a creation learns by no look that it has not been carried out. */
  const create = async <T extends ObservedObject>(task: Task<T>, manifest: Manifest, signal: AbortSignal): Promise<T> => {
    const sentMs = deps.clock.monotonicMs();
    try {
      return await task.objects.create(manifest, signal);
    } catch (error) {
      if (error instanceof UnavailableError || signal.aborted) unanswered.lost(objectOf(task), sentMs);
      throw error;
    }
  };
  return {
    async carryOut<T extends ObservedObject>(task: Task<T>, signal: AbortSignal): Promise<Settlement<T>> {
      let observed = task.objects.get(task.at);
      for (let step = 0; step < STEP_LIMIT; step += 1) {
        const action = task.plan(observed);
        const settlement = settlementOf(task, action, step > 0);
        if (settlement?.kind === "gone" && unanswered.mayLand(objectOf(task), deps.clock.monotonicMs())) return { kind: "unsure" };
        if (settlement !== undefined) return settlement;
        tell(task, action);
        const write = carry(task.objects, action, (manifest) => create(task, manifest, signal), signal);
        observed = (await write) ?? (await task.objects.read(task.at, signal));
      }
      const context = { object: task.name, ...task.at };
      throw new StaleError("bringing an object to what it should be", { code: "reconciler.contested", context });
    },
  };
}

function objectOf({ name, at }: Pick<Task<never>, "name" | "at">): string {
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
async function carry<T extends ObservedObject>(
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
    // What is created meets a missing namespace only; what is changed may be gone itself, which asking will show.
    if (error instanceof GoneError && action.kind !== "create") return undefined;
    throw error;
  }
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
