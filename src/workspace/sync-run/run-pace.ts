/** How a workspace's runs follow each other: so many may begin at once, then one each time another is due. */
export interface RunPace {
  /**
   * In how many ms the run may begin; 0: now. The first time it is asked about it gets its place, behind those that asked before, and
   * keeps it. `nowMs` is of a clock that only grows.
   */
  dueInMs(run: { readonly uid: string; readonly workspace: string }, perMinute: number, nowMs: number): number;
  /** It has begun, or is gone; a place that it had not come to is lost to nobody but its workspace. */
  forget(uid: string): void;
}

const MINUTE_MS = 60_000;

/**
 * The moment from which on a bucket of one minute's worth is full again, after another token was taken from it at `nowMs`; and
 * when that token is there (GCRA, ITU-T I.371: the virtual scheduling algorithm).
 */
export function takeToken(fullAtMs: number, perMinute: number, nowMs: number): { readonly dueMs: number; readonly fullAtMs: number } {
  const intervalMs = MINUTE_MS / perMinute;
  const next = Math.max(fullAtMs, nowMs);
  return { dueMs: Math.max(nowMs, next + intervalMs - MINUTE_MS), fullAtMs: next + intervalMs };
}

/** Lost on a restart, when every workspace has a full minute's worth again. */
export function createRunPace(): RunPace {
  const fullAt = new Map<string, number>();
  const due = new Map<string, number>();
  let rate: number | undefined;

  /** Those at the front changed least recently: a bucket that is full is like one that was never used. */
  const dropFull = (nowMs: number): void => {
    for (const [workspace, fullAtMs] of fullAt) {
      if (fullAtMs > nowMs) return;
      fullAt.delete(workspace);
    }
  };
  return {
    dueInMs({ uid, workspace }, perMinute, nowMs) {
      // Another quota is another beginning: whoever waits by the old one asks anew.
      if (rate !== perMinute) for (const places of [fullAt, due]) places.clear();
      rate = perMinute;
      let dueMs = due.get(uid);
      if (dueMs === undefined) {
        dropFull(nowMs);
        const taken = takeToken(fullAt.get(workspace) ?? nowMs, perMinute, nowMs);
        fullAt.delete(workspace);
        fullAt.set(workspace, taken.fullAtMs);
        dueMs = taken.dueMs;
        due.set(uid, dueMs);
      }
      return Math.max(0, Math.ceil(dueMs - nowMs));
    },
    forget: (uid) => void due.delete(uid),
  };
}
