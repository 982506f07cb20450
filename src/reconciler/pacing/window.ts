/** How many Applications of a unit its instance is given work with at once, and what that rests on. */
export interface Window {
  readonly size: number;
  /** The least that a round has taken on average, in ms: about what one takes that waits for no others. Absent before the first. */
  readonly bestMs: number | undefined;
  /** Whether it has ever been too large: until then it doubles. */
  readonly hasShrunk: boolean;
  /** Of the round that is under way: those that are done, and what they took together, in ms. */
  readonly done: number;
  readonly sumMs: number;
}

export const FIRST_WINDOW: Window = { size: 2, bestMs: undefined, hasShrunk: false, done: 0, sumMs: 0 };

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
export function nextWindow(window: Window, tookMs: number, most: number): Window {
  const [done, sumMs] = [window.done + 1, window.sumMs + tookMs];
  if (done < Math.max(LEAST_ROUND, window.size)) return { ...window, done, sumMs };
  const meanMs = sumMs / done;
  const least = Math.min(FIRST_WINDOW.size, most);
  const bestMs = window.size <= least ? meanMs : Math.min(window.bestMs ?? meanMs, meanMs);
  const next = { ...window, bestMs, done: 0, sumMs: 0 };
  if (meanMs <= Math.max(HARMLESS_MS, bestMs * GROWS_UP_TO))
    return { ...next, size: Math.min(most, window.hasShrunk ? window.size + 1 : window.size * 2) };
  if (meanMs <= bestMs * SHRINKS_ABOVE) return next;
  return { ...next, size: Math.max(least, Math.floor(window.size * SHRINKS_TO)), hasShrunk: true };
}
