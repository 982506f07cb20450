import type { ApplicationId } from "../../domain/ids.ts";

/** What this process has seen of runs. Lost on a restart and found again by the sweep. */
export interface RunIndex {
  /** A resource of this key had this uid: there may be a row. Not to be said of a row alone: what is seen and not present is gone. */
  saw(key: string, uid: string): void;
  /** There is a row. */
  recorded(
    key: string,
    row: { readonly uid: string; readonly applicationId?: ApplicationId | undefined; readonly isFinished: boolean },
  ): void;
  /** The row is gone, or the resource is and nothing was ever recorded of it. */
  forgotten(key: string, uid: string): void;
  /** Sorted. */
  uidsOf(key: string): readonly string[];
  keyOf(uid: string): string | undefined;
  isFinished(uid: string): boolean;
  /** Keys of unfinished runs of an application. */
  keysOf(applicationId: ApplicationId): readonly string[];
}

interface Row {
  readonly key: string;
  readonly applicationId: ApplicationId | undefined;
  readonly isFinished: boolean;
}

export function createRunIndex(): RunIndex {
  const seen = new Map<string, Set<string>>();
  const rows = new Map<string, Row>();
  const queues = new Map<ApplicationId, Set<string>>();

  const unqueue = (uid: string): void => {
    const applicationId = rows.get(uid)?.applicationId;
    const queue = applicationId === undefined ? undefined : queues.get(applicationId);
    queue?.delete(uid);
    if (applicationId !== undefined && queue?.size === 0) queues.delete(applicationId);
  };
  return {
    saw: (key, uid) => void seen.set(key, (seen.get(key) ?? new Set()).add(uid)),
    recorded(key, { uid, applicationId, isFinished }) {
      unqueue(uid);
      rows.set(uid, { key, applicationId, isFinished });
      if (applicationId !== undefined && !isFinished) queues.set(applicationId, (queues.get(applicationId) ?? new Set()).add(uid));
    },
    forgotten(key, uid) {
      unqueue(uid);
      rows.delete(uid);
      const uids = seen.get(key);
      uids?.delete(uid);
      if (uids?.size === 0) seen.delete(key);
    },
    uidsOf: (key) => [...(seen.get(key) ?? [])].sort(),
    keyOf: (uid) => rows.get(uid)?.key,
    isFinished: (uid) => rows.get(uid)?.isFinished ?? false,
    keysOf: (applicationId) => [...(queues.get(applicationId) ?? [])].flatMap((uid) => rows.get(uid)?.key ?? []),
  };
}
