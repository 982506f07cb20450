import type { ProbeResult } from "./derive-signals.ts";

/**
 * What an instance's repo-servers spent on fetching lately, by repository, in s. It outlives them: after an eviction the counters of their
 * successor begin again.
 */
export interface Fetched {
  /** Of a monotonic clock, in ms. Absent: nothing was seen yet. */
  readonly atMs: number | undefined;
  /** Halved every half hour, so that an hour ago counts a quarter. */
  readonly seconds: ReadonlyMap<string, number>;
  /** The counters of each pod's process when they were last read. */
  readonly pods: ReadonlyMap<string, CountersOfPod>;
}

interface CountersOfPod {
  readonly startedAt: number;
  /** Of a monotonic clock, in ms. */
  readonly readAtMs: number;
  readonly seconds: ReadonlyMap<string, number>;
}

export const NOTHING_FETCHED: Fetched = { atMs: undefined, seconds: new Map(), pods: new Map() };

/** After so long what was seen counts half, in ms. */
const HALF_LIFE_MS = 1_800_000;
/** A process whose counters are seen for the first time counts from its begin if that was within this time, in s. Else from now on. */
const YOUNG_S = 3_600;
/** Below this a repository is forgotten. */
const LEAST = 0.001;

/** Adds what was fetched since the probe before. Counters of a process that has begun anew count from zero. */
export function nextFetched(before: Fetched, { atMs, wallS, repoServers }: Pick<ProbeResult, "atMs" | "wallS" | "repoServers">): Fetched {
  const seconds = faded(before.seconds, before.atMs, atMs);
  // Also a pod that is not found for a while: it would count once more when it is found again.
  const pods = new Map([...before.pods].filter(([, { readAtMs }]) => atMs - readAtMs < YOUNG_S * 1_000));
  for (const [pod, page] of repoServers) {
    const startedAt = page?.counters.startedAt;
    if (page === undefined || startedAt === undefined) continue;
    const now = { startedAt, readAtMs: atMs, seconds: page.fetchSeconds };
    for (const [repository, grown] of growthOf(pods.get(pod), now, wallS)) seconds.set(repository, (seconds.get(repository) ?? 0) + grown);
    pods.set(pod, now);
  }
  return { atMs, seconds: withoutTraces(seconds), pods };
}

/** What is left at `atMs` of what repositories took until `sinceMs`, both of a monotonic clock, in ms. */
export function faded(amounts: ReadonlyMap<string, number>, sinceMs: number | undefined, atMs: number): Map<string, number> {
  const kept = sinceMs === undefined ? 0 : 0.5 ** (Math.max(0, atMs - sinceMs) / HALF_LIFE_MS);
  return new Map([...amounts].map(([repository, each]) => [repository, each * kept] as const));
}

/** What is next to nothing is forgotten. */
export function withoutTraces(amounts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map([...amounts].filter(([, each]) => each >= LEAST));
}

function growthOf(before: CountersOfPod | undefined, now: CountersOfPod, wallS: number): ReadonlyMap<string, number> {
  if (before === undefined && wallS - now.startedAt > YOUNG_S) return new Map();
  const from = before?.startedAt === now.startedAt ? before.seconds : new Map<string, number>();
  const grown = [...now.seconds].map(([repository, each]) => [repository, each - (from.get(repository) ?? 0)] as const);
  return new Map(grown.filter(([, each]) => each > 0));
}
