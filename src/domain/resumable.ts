/**
 * Work that pauses now and then. Whoever drives it may let others have a turn at each pause, and the result does not depend on how long that takes: the
 * work is given no time and reads nothing that changes meanwhile.
 */
export type Resumable<Result> = Generator<void, Result, void>;

/** After how many of many small units of work there is a pause: each takes microseconds. */
const UNTIL_PAUSE = 500;

/** Carries work out without a break. */
export function complete<Result>(work: Resumable<Result>): Result {
  for (;;) {
    const next = work.next();
    if (next.done === true) return next.value;
  }
}

/** Visits each item, with pauses. */
export function* visitInTurns<Item>(items: readonly Item[], visit: (item: Item, index: number) => void): Resumable<void> {
  for (let index = 0; index < items.length; index += 1) {
    if (index % UNTIL_PAUSE === UNTIL_PAUSE - 1) yield;
    visit(items[index] as Item, index);
  }
}

/** What a function makes of each item, with pauses. */
export function* mapInTurns<Item, Result>(items: readonly Item[], of: (item: Item, index: number) => Result): Resumable<readonly Result[]> {
  const results: Result[] = [];
  yield* visitInTurns(items, (item, index) => results.push(of(item, index)));
  return results;
}

/** Those items of which something holds, with pauses. */
export function* filterInTurns<Item>(items: readonly Item[], holds: (item: Item) => boolean): Resumable<readonly Item[]> {
  const kept: Item[] = [];
  yield* visitInTurns(items, (item) => {
    if (holds(item)) kept.push(item);
  });
  return kept;
}
