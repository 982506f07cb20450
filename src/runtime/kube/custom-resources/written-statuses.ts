/** What of a resource tells whether it is this very one, and whether it is newer. */
export interface Versioned {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

type At = Pick<Versioned, "namespace" | "name">;

/**
 * Statuses that were written here and that the watch has not reported yet. Without them, two writes in quick succession would each take
 * the conditions of before the first for the present ones: times would jump, and a condition that came and went would leave no trace.
 */
export function createWrittenStatuses<T extends Versioned>(withStatus: (seen: T, own: T) => T) {
  const ahead = new Map<string, T>();
  const key = ({ namespace, name }: At) => `${namespace}|${name}`;
  return {
    /** @param kept what the watch shows now, which may be the write already */
    wrote(answer: T, kept: T | undefined): void {
      if (kept?.uid === answer.uid && isOlder(kept.resourceVersion, answer.resourceVersion)) ahead.set(key(answer), answer);
    },
    /** The watch has come to `seen`. */
    seen(seen: T): void {
      const own = ahead.get(key(seen));
      if (own !== undefined && (own.uid !== seen.uid || !isOlder(seen.resourceVersion, own.resourceVersion))) ahead.delete(key(seen));
    },
    forget(at: At): void {
      ahead.delete(key(at));
    },
    /** The resource with the status we know it to have. */
    over(kept: T | undefined): T | undefined {
      const own = kept && ahead.get(key(kept));
      if (kept === undefined || own === undefined || own.uid !== kept.uid || !isOlder(kept.resourceVersion, own.resourceVersion))
        return kept;
      return withStatus(kept, own);
    },
  };
}

/** Resource versions of one kind are numbers that grow; anything else counts as not older, so that nothing is kept for ever. */
function isOlder(a: string, b: string): boolean {
  return /^\d+$/.test(a) && /^\d+$/.test(b) && (a.length < b.length || (a.length === b.length && a < b));
}
