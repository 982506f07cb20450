/** So many requests per second of one identity on average, and so many at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateLimiter {
  /** Counts one more of `key` at this time of a clock that only grows. 0: it may go on; else how long it has to wait, and it is not counted. */
  take(key: string, nowMs: number): number;
  /** What `take` would answer, without counting. */
  waitMs(key: string, nowMs: number): number;
  /** Of how many keys something is remembered. */
  size(): number;
}

/** Whoever is refused has to wait at least this long, in ms: shorter times only make many requests of one. */
const SHORTEST_WAIT_MS = 1_000;
/** Full buckets are looked for this often at most, in ms, once there are too many. */
const SWEEP_EVERY_MS = 1_000;
/** The one bucket of all who find no room for one of their own. */
const OTHERS = "";

/**
 * A token bucket for each key, kept as the moment at which it would be full again (generic cell rate algorithm). A full one needs no memory; where
 * more than `keys` are not full, everybody else shares one: whoever brings many addresses gets less for each, and takes no memory by it.
 */
export function createRateLimiter({ perSecond, burst }: Rate, keys: number): RateLimiter {
  const intervalMs = 1_000 / perSecond;
  const burstMs = (burst - 1) * intervalMs;
  const fullAt = new Map<string, number>();
  let sweptMs = Number.NEGATIVE_INFINITY;

  const sweep = (nowMs: number): void => {
    if (nowMs < sweptMs + SWEEP_EVERY_MS) return;
    sweptMs = nowMs;
    for (const [key, at] of fullAt) if (at <= nowMs) fullAt.delete(key);
  };
  const bucketOf = (key: string, nowMs: number): string => {
    if (fullAt.has(key) || fullAt.size < keys) return key;
    sweep(nowMs);
    return fullAt.size < keys ? key : OTHERS;
  };
  const dueOf = (bucket: string, nowMs: number): number => Math.max(fullAt.get(bucket) ?? nowMs, nowMs);
  const waitOf = (bucket: string, nowMs: number): number => {
    const waitMs = dueOf(bucket, nowMs) - burstMs - nowMs;
    return waitMs > 0 ? Math.max(waitMs, SHORTEST_WAIT_MS) : 0;
  };
  return {
    take(key, nowMs) {
      const bucket = bucketOf(key, nowMs);
      const waitMs = waitOf(bucket, nowMs);
      if (waitMs === 0) fullAt.set(bucket, dueOf(bucket, nowMs) + intervalMs);
      return waitMs;
    },
    waitMs: (key, nowMs) => waitOf(bucketOf(key, nowMs), nowMs),
    size: () => fullAt.size,
  };
}

/**
 * What requests without a known token are counted by: the address they come from. Of an IPv6 address the first 64 bits, which is what one
 * customer of a network gets.
 */
export function addressKey(ip: string): string {
  const [address = ""] = ip.split("%");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address;
  const [head = "", tail] = address.split("::");
  const groups = (text: string): readonly string[] => (text === "" ? [] : text.split(":"));
  const [before, after] = [groups(head), groups(tail ?? "")];
  const missing = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: missing }, () => "0"), ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
