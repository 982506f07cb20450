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

/** A workspace's tokens: how many it gets in a minute, and when there is a full minute's worth of them again. */
interface Bucket {
  readonly perMinute: number;
  readonly fullAtMs: number;
}

/** A run's turn, by the quota it asked with. */
interface Place {
  readonly perMinute: number;
  readonly dueMs: number;
}

/** Lost on a restart, when every workspace has a full minute's worth again. */
export function createRunPace(): RunPace {
  const buckets = new Map<string, Bucket>();
  const places = new Map<string, Place>();

  /** Those at the front changed least recently: a bucket that is full is like one that was never used. */
  const dropFull = (nowMs: number): void => {
    for (const [workspace, { fullAtMs }] of buckets) {
      if (fullAtMs > nowMs) return;
      buckets.delete(workspace);
    }
  };
  const take = (workspace: string, perMinute: number, nowMs: number): number => {
    dropFull(nowMs);
    const bucket = buckets.get(workspace);
    const { dueMs, fullAtMs } = takeToken(bucket?.perMinute === perMinute ? bucket.fullAtMs : nowMs, perMinute, nowMs);
    buckets.delete(workspace);
    buckets.set(workspace, { perMinute, fullAtMs });
    return dueMs;
  };
  return {
    dueInMs({ uid, workspace }, perMinute, nowMs) {
      let place = places.get(uid);
      // Another quota of its workspace is another beginning: whoever waits by the old one asks anew.
      if (place?.perMinute !== perMinute) {
        place = { perMinute, dueMs: take(workspace, perMinute, nowMs) };
        places.set(uid, place);
      }
      return Math.max(0, Math.ceil(place.dueMs - nowMs));
    },
    forget: (uid) => void places.delete(uid),
  };
}
