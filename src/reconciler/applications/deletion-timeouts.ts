import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import type { Application } from "../../domain/workspace.ts";
import { type ApplicationRequest, deletionOf } from "../../shard/plan-application.ts";

/**
 * How long a deletion waits until nothing is under way in its Application, in ms: a sync that is stopped ends within seconds. Where
 * Argo CD or Git do not answer, the deletion goes on all the same, and Argo CD takes its own order.
 */
const REST_TIMEOUT_MS = 30_000;

/** What is to become of Applications, and how long their deletions have been waiting for rest. */
export interface DeletionTimeouts {
  /** A cascade may wait for half a minute, counted from the first time it was asked for. */
  of(application: Pick<Application, "id" | "deletion" | "deletedAt">): ApplicationRequest;
  forget(id: ApplicationId): void;
}

export function createDeletionTimeouts(clock: Pick<Clock, "now" | "monotonicMs">): DeletionTimeouts {
  const since = new Map<ApplicationId, number>();
  const mayWait = (id: ApplicationId): boolean => {
    const nowMs = clock.monotonicMs();
    const sinceMs = since.get(id) ?? nowMs;
    since.set(id, sinceMs);
    return nowMs - sinceMs < REST_TIMEOUT_MS;
  };
  return {
    of(application) {
      const deletion = deletionOf(application);
      return { deletion, now: clock.now(), mayWait: deletion === "cascade" && mayWait(application.id) };
    },
    forget: (id) => void since.delete(id),
  };
}
