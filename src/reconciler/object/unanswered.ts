/** How long after it was sent a creation may land at most, in ms: API servers give a request up after a minute. */
export const MAY_LAND_MS = 60_000;

/** How soon to look again whether it has, in ms: the watch tells too. */
export const UNSURE_AGAIN_MS = 5_000;

/** Creations that nobody answered, by what they are of. Times on a clock that only grows, in ms. */
export interface Unanswered {
  /** One that was sent then got no answer. That a later one is answered says nothing of it: it lands when the name is free again. */
  lost(object: string, sentMs: number): void;
  /** Whether one may land still: that nothing is there says nothing until then. */
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
