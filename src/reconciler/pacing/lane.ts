/**
 * The Applications of one unit on one instance that its controller has work with, and the wishes of the same unit that wait for it. Times
 * are in ms of one clock that only grows; `at` names an Application, `wish` what is wanted of it.
 */
export interface Lane {
  /** The controller has work with it from now on, whoever made that. One that counts already goes on counting from when it began. */
  begin(at: string, nowMs: number): void;
  /** The controller has nothing to do about it any more. */
  end(at: string): void;
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

/** Creates an empty lane; `unfinished`: Applications the controller may have work with before further ones wait. */
export function createLane(unfinished: number): Lane {
  /** Since when each has counted; in that order, because a `Map` keeps it and time only grows. */
  const counting = new Map<string, number>();
  /** Those that counted for too long: they are remembered, so that their next event does not make them count anew. */
  const slow = new Set<string>();
  const line = new Map<string, string>();

  const expire = (nowMs: number): void => {
    for (const [at, sinceMs] of counting) {
      if (nowMs - sinceMs < PATIENCE_MS) return;
      counting.delete(at);
      slow.add(at);
    }
  };
  const isWorkedOn = (at: string): boolean => counting.has(at) || slow.has(at);
  const begin = (at: string, nowMs: number): void => {
    if (!isWorkedOn(at)) counting.set(at, nowMs);
  };

  return {
    begin,
    end(at) {
      counting.delete(at);
      slow.delete(at);
    },
    admits(wish, at, nowMs) {
      expire(nowMs);
      const isFree = line.size === 0 && counting.size < unfinished;
      if (isWorkedOn(at) || isFree) {
        line.delete(wish);
        begin(at, nowMs);
        return true;
      }
      if (!line.has(wish)) line.set(wish, at);
      return false;
    },
    next(nowMs) {
      expire(nowMs);
      const named: string[] = [];
      for (const [wish, at] of line) {
        if (counting.size >= unfinished && !isWorkedOn(at)) break;
        line.delete(wish);
        begin(at, nowMs);
        named.push(wish);
      }
      return named;
    },
    leave: (wish) => void line.delete(wish),
    dueMs() {
      const [first] = counting.values();
      return line.size === 0 || first === undefined ? undefined : first + PATIENCE_MS;
    },
    size: () => ({ working: counting.size + slow.size, held: line.size }),
  };
}
