import { rest } from "./observe.ts";

/** Where the watching of something ended. */
export interface Followed<T> {
  readonly view: T;
  /** Whoever watched went away; what was watched goes on. */
  readonly isInterrupted: boolean;
}

/** Shows and reads again, until the end of what is watched or until whoever watches is interrupted. */
export async function follow<T>(
  first: T,
  read: () => Promise<T>,
  {
    everyMs,
    signal,
    show,
    isEnd,
  }: { readonly everyMs: number | (() => number); readonly signal: AbortSignal; show(view: T): void; isEnd(view: T): boolean },
): Promise<Followed<T>> {
  for (let view = first; ; ) {
    show(view);
    if (isEnd(view)) return { view, isInterrupted: false };
    await rest(typeof everyMs === "number" ? everyMs : everyMs(), signal);
    const next = signal.aborted ? undefined : await unlessInterrupted(read(), signal);
    if (next === undefined) return { view, isInterrupted: true };
    view = next;
  }
}

/** What is awaited, or `undefined` where somebody interrupts that. */
export async function unlessInterrupted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  let stop: () => void = () => undefined;
  const interrupted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([awaited, interrupted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** One thing to print about what is watched. */
export interface FollowedLine {
  readonly text: string;
  /** What makes it new; the text, where that is left out. */
  readonly key?: string;
  /** Whether it is printed again while it holds and nothing new comes: what is waited for, and for how long by now. */
  readonly holds?: true;
}

/** Longest time without a word while something is waited for: whoever watches should not wonder whether it is stuck. */
const QUIET_MS = 15_000;

/** Tells what is new at once and once, and what holds again after a quiet time. `now`: ms of any clock that only goes forward. */
export function createNotifications(tell: (line: string) => void): (lines: readonly FollowedLine[], now: number) => void {
  const reported = new Set<string>();
  let last: number | undefined;
  return (lines, now) => {
    const fresh = lines.filter(({ text, key = text }) => !reported.has(key));
    const isQuiet = last !== undefined && now - last >= QUIET_MS;
    const due = fresh.length > 0 ? fresh : isQuiet ? lines.filter(({ holds }) => holds) : [];
    for (const { text, key = text } of due) {
      reported.add(key);
      tell(text);
    }
    if (due.length > 0) last = now;
  };
}
