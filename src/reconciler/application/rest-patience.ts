import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";

/**
 * How long a deletion waits until nothing is under way in its Application, in ms: a sync that is stopped ends within seconds. Where
 * Argo CD or Git do not answer it goes on all the same, and Argo CD takes its own order.
 */
const PATIENCE_MS = 30_000;

/** How long deletions have been waiting for rest. */
export interface RestPatience {
  /** Whether this one may still wait; counted from the first time it was asked for. */
  has(id: ApplicationId): boolean;
  forget(id: ApplicationId): void;
}

export function createRestPatience(clock: Pick<Clock, "monotonicMs">): RestPatience {
  const since = new Map<ApplicationId, number>();
  return {
    has(id) {
      const nowMs = clock.monotonicMs();
      const sinceMs = since.get(id) ?? nowMs;
      since.set(id, sinceMs);
      return nowMs - sinceMs < PATIENCE_MS;
    },
    forget: (id) => void since.delete(id),
  };
}
