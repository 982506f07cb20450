import type { ApplicationId, InstanceId, UnitId } from "../../domain/ids.ts";
import type { ObjectAt, ObservedObject } from "../../shard/managed-object.ts";
import { holderOf, unitOf } from "../../shard/parse-application.ts";

/**
 * The Applications of one unit on one instance that Argo CD's controller has work with, and the work of the same unit that waits in line
 * until there are fewer. Times are in ms of one clock that only grows; `at` names an Application, `work` what is to be done with it.
 */
export interface InFlightWindow {
  /** The controller has work with it from now on, whoever made that. One that counts already goes on counting from when it began. */
  begin(at: string, nowMs: number): void;
  /** The controller is done with it. */
  end(at: string, nowMs: number): void;
  /** The controller was never given it after all, or it is gone: what it took says nothing. */
  drop(at: string): void;
  /**
   * Whether the work may begin now; it then counts as begun. If not it is in line, where it keeps its place, until `next` names it.
   * More work with what is in flight already never waits: it makes the controller's queue no longer.
   */
  admits(work: string, at: string, nowMs: number): boolean;
  /** Takes the work out of the line that may begin now, longest waiting first; each counts as begun. */
  next(nowMs: number): readonly string[];
  /** The work is withdrawn. */
  leave(work: string): void;
  /** When `next` may name another one though nothing ends; `undefined` while nothing is in line. */
  dueMs(): number | undefined;
  /** Applications the controller has work with, and work in line. */
  size(): { readonly working: number; readonly held: number };
}

/**
 * After how long, in ms, an Application that does not come to an end stops counting, so that the line moves on whatever Argo CD does.
 * Rendering and syncing takes seconds where all is well; hooks, dead repositories and a controller that is away take minutes or for ever.
 */
export const IN_FLIGHT_TIMEOUT_MS = 30_000;

interface Counted {
  readonly sinceMs: number;
  /** Whether it was this window that let it begin, and so knows what it takes. */
  readonly isOurs: boolean;
}

/** Who waits for this moment and who asks whether it has come use the same sum: a difference may round to less than what is waited for. */
const dueOf = ({ sinceMs }: Counted): number => sinceMs + IN_FLIGHT_TIMEOUT_MS;

/** Creates an empty window; `most`: how large it may become, however fast the controller is. */
export function createInFlightWindow(most: number): InFlightWindow {
  /** In the order in which they were begun, because a `Map` keeps it and time only grows. */
  const counting = new Map<string, Counted>();
  /** Those that counted for too long: they are remembered, so that their next event does not make them count anew. */
  const slow = new Set<string>();
  const line = new Map<string, string>();
  let measured = { ...FIRST_SIZE, size: Math.min(FIRST_SIZE.size, most) };

  const took = ({ sinceMs, isOurs }: Counted, nowMs: number): void => {
    if (isOurs) measured = nextSize(measured, nowMs - sinceMs, most);
  };
  const expire = (nowMs: number): void => {
    for (const [at, counted] of counting) {
      if (dueOf(counted) > nowMs) return;
      counting.delete(at);
      slow.add(at);
      took(counted, nowMs);
    }
  };
  const isWorkedOn = (at: string): boolean => counting.has(at) || slow.has(at);
  const begin = (at: string, sinceMs: number, isOurs: boolean): void => {
    if (!isWorkedOn(at)) counting.set(at, { sinceMs, isOurs });
  };

  return {
    begin: (at, nowMs) => begin(at, nowMs, false),
    end(at, nowMs) {
      const counted = counting.get(at);
      if (counted !== undefined) took(counted, nowMs);
      counting.delete(at);
      slow.delete(at);
    },
    drop(at) {
      counting.delete(at);
      slow.delete(at);
    },
    admits(work, at, nowMs) {
      expire(nowMs);
      const isFree = line.size === 0 && counting.size < measured.size;
      if (isWorkedOn(at) || isFree) {
        line.delete(work);
        begin(at, nowMs, true);
        return true;
      }
      if (!line.has(work)) line.set(work, at);
      return false;
    },
    next(nowMs) {
      expire(nowMs);
      const named: string[] = [];
      for (const [work, at] of line) {
        if (counting.size >= measured.size && !isWorkedOn(at)) break;
        line.delete(work);
        begin(at, nowMs, true);
        named.push(work);
      }
      return named;
    },
    leave: (work) => void line.delete(work),
    dueMs() {
      const [first] = counting.values();
      return line.size === 0 || first === undefined ? undefined : dueOf(first);
    },
    size: () => ({ working: counting.size + slow.size, held: line.size }),
  };
}

/** How many Applications of a unit its instance is given work with at once, and what that rests on. */
export interface WindowSize {
  readonly size: number;
  /** The least that a round has taken on average, in ms: about what one takes that waits for no others. Absent before the first. */
  readonly bestMs: number | undefined;
  /** Whether it has ever been too large: until then it doubles. */
  readonly hasShrunk: boolean;
  /** Of the round that is under way: those that are done, and what they took together, in ms. */
  readonly done: number;
  readonly sumMs: number;
}

export const FIRST_SIZE: WindowSize = { size: 2, bestMs: undefined, hasShrunk: false, done: 0, sumMs: 0 };

/** Fewer make no average: what is deployed differs. */
const LEAST_ROUND = 4;
/** Times the best up to which more are tried, and beyond which it is a quarter less. */
const GROWS_UP_TO = 1.5;
const SHRINKS_ABOVE = 2.5;
const SHRINKS_TO = 0.75;
/** What takes no longer than this on average, in ms, is in nobody's way and says little: a busy API server alone takes as long. */
const HARMLESS_MS = 1_000;

/**
 * Decides how many may be under way after one more was done, once a round: when as many are done as may be under way, at least four.
 *
 * More while a round takes about as long as the best one has, fewer when it takes two and a half times that. By then most of it is
 * waiting behind one another: the instance is busy all the time, so that more at once would make nothing faster, and would only
 * stand in front of others. What is best is learnt anew while the window is at its least: what takes long then does so by nature.
 *
 * @param tookMs from the write until the instance had nothing more to do about it
 * @param most bound of the size, whatever was measured
 */
export function nextSize(now: WindowSize, tookMs: number, most: number): WindowSize {
  const [done, sumMs] = [now.done + 1, now.sumMs + tookMs];
  if (done < Math.max(LEAST_ROUND, now.size)) return { ...now, done, sumMs };
  const meanMs = sumMs / done;
  const least = Math.min(FIRST_SIZE.size, most);
  const bestMs = now.size <= least ? meanMs : Math.min(now.bestMs ?? meanMs, meanMs);
  const next = { ...now, bestMs, done: 0, sumMs: 0 };
  if (meanMs <= Math.max(HARMLESS_MS, bestMs * GROWS_UP_TO))
    return { ...next, size: Math.min(most, now.hasShrunk ? now.size + 1 : now.size * 2) };
  if (meanMs <= bestMs * SHRINKS_ABOVE) return next;
  return { ...next, size: Math.max(least, Math.floor(now.size * SHRINKS_TO)), hasShrunk: true };
}

/** Work for an instance's controller that may as well begin later: see `mayWait`, and the syncs that users ask for. */
export interface PacedWork {
  readonly kind: "application" | "sync";
  readonly id: ApplicationId;
  readonly unit: UnitId;
  readonly at: ObjectAt;
}

/** A unit on an instance. */
export type WindowKey = `${string}|${string}`;

export function windowOf(instance: InstanceId, unit: UnitId): WindowKey {
  return `${instance}|${unit}`;
}

/** The window that an object's labels name; `undefined` for one that does not say whose it is. */
export function windowOfObject(object: Pick<ObservedObject, "labels">): WindowKey | undefined {
  const [instance, unit] = [holderOf(object), unitOf(object)];
  return instance === undefined || unit === undefined ? undefined : windowOf(instance, unit);
}

/** The windows that a changed object is or was in. */
export function windowsOf<T extends Pick<ObservedObject, "labels">>(change: {
  readonly before?: T | undefined;
  readonly now?: T;
}): ReadonlySet<WindowKey> {
  return new Set([change.now, change.before].flatMap((side) => (side === undefined ? [] : (windowOfObject(side) ?? []))));
}

export function nameOf({ kind, id }: Pick<PacedWork, "kind" | "id">): string {
  return `${kind}|${id}`;
}

export function placeOf({ namespace, name }: ObjectAt): string {
  return `${namespace}|${name}`;
}

/** The metric's samples, of the instances that have a name here: the others are other processes'. */
export function samplesOf(windows: ReadonlyMap<WindowKey, Pick<InFlightWindow, "size">>, instances: ReadonlyMap<InstanceId, string>) {
  const states = ["working", "held"] as const;
  return [...instances].flatMap(([id, instance]) => {
    const sizes = [...windows].filter(([key]) => key.startsWith(`${id}|`)).map(([, window]) => window.size());
    return states.map((state) => ({ labels: { instance, state }, value: sizes.reduce((sum, size) => sum + size[state], 0) }));
  });
}
