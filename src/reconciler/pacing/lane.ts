import { FIRST_WINDOW, nextWindow } from "./window.ts";

/**
 * The Applications of one unit on one instance that its controller has work with, and the wishes of the same unit that wait for it. Times
 * are in ms of one clock that only grows; `at` names an Application, `wish` what is wanted of it.
 */
export interface Lane {
  /** The controller has work with it from now on, whoever made that. One that counts already goes on counting from when it began. */
  begin(at: string, nowMs: number): void;
  /** The controller is done with it. */
  end(at: string, nowMs: number): void;
  /** The controller was never given it after all, or it is gone: what it took says nothing. */
  drop(at: string): void;
  /**
   * Whether the wish may be carried out now; it then counts as begun. If not it is in line, where it keeps its place, until `next` names
   * it. Another wish for what the controller has work with never waits: it makes the queue no longer.
   */
  admits(wish: string, at: string, nowMs: number): boolean;
  /** Takes those out of the line that may be carried out now, longest waiting first; each counts as begun. */
  next(nowMs: number): readonly string[];
  /** The wish is withdrawn. */
  leave(wish: string): void;
  /** When `next` may name another one though nothing ends; `undefined` while nothing is in line. */
  dueMs(): number | undefined;
  /** Applications the controller has work with, and wishes in line. */
  size(): { readonly working: number; readonly held: number };
}

/**
 * After how long, in ms, an Application that does not come to an end stops counting, so that the line moves on whatever the controller does.
 * Rendering and syncing takes seconds where all is well; hooks, dead repositories and a controller that is away take minutes or for ever.
 */
export const PATIENCE_MS = 30_000;

interface Counted {
  readonly sinceMs: number;
  /** Whether it was this lane that gave it to the controller, and so knows what it takes. */
  readonly isOurs: boolean;
}

/** One sum for both who waits for this moment and who asks whether it has come: a difference may round to less than what it waits for. */
const dueOf = ({ sinceMs }: Counted): number => sinceMs + PATIENCE_MS;

/** Creates an empty lane; `most`: Applications the controller may have work with before further ones wait, however fast it is. */
export function createLane(most: number): Lane {
  /** In the order in which they were begun, because a `Map` keeps it and time only grows. */
  const counting = new Map<string, Counted>();
  /** Those that counted for too long: they are remembered, so that their next event does not make them count anew. */
  const slow = new Set<string>();
  const line = new Map<string, string>();
  let window = { ...FIRST_WINDOW, size: Math.min(FIRST_WINDOW.size, most) };

  const took = ({ sinceMs, isOurs }: Counted, nowMs: number): void => {
    if (isOurs) window = nextWindow(window, nowMs - sinceMs, most);
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
    admits(wish, at, nowMs) {
      expire(nowMs);
      const isFree = line.size === 0 && counting.size < window.size;
      if (isWorkedOn(at) || isFree) {
        line.delete(wish);
        begin(at, nowMs, true);
        return true;
      }
      if (!line.has(wish)) line.set(wish, at);
      return false;
    },
    next(nowMs) {
      expire(nowMs);
      const named: string[] = [];
      for (const [wish, at] of line) {
        if (counting.size >= window.size && !isWorkedOn(at)) break;
        line.delete(wish);
        begin(at, nowMs, true);
        named.push(wish);
      }
      return named;
    },
    leave: (wish) => void line.delete(wish),
    dueMs() {
      const [first] = counting.values();
      return line.size === 0 || first === undefined ? undefined : dueOf(first);
    },
    size: () => ({ working: counting.size + slow.size, held: line.size }),
  };
}
