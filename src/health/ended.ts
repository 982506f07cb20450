import type { ProbeResult } from "./derive-signals.ts";
import { faded, withoutTraces } from "./fetched.ts";
import type { HealthPage } from "./parse-page.ts";

/** What an instance's repo-servers were at when they ended lately, by repository. */
export interface Ended {
  /** Of a monotonic clock, in ms. Absent: nothing was seen yet. */
  readonly atMs: number | undefined;
  /** How many ends each repository has to answer for. Each end counts one in all, half as much every half hour. */
  readonly ends: ReadonlyMap<string, number>;
  /** The process of each pod when it was last read, and what it was at. */
  readonly pods: ReadonlyMap<string, ProcessOfPod>;
}

interface ProcessOfPod {
  readonly startedAt: number;
  /** Of a monotonic clock, in ms. */
  readonly readAtMs: number;
  /** How many fetches it had begun, by repository. */
  readonly fetchesBegun: ReadonlyMap<string, number>;
  /** Repositories that it fetches, or has fetched for a request that is still under way. */
  readonly atWork: ReadonlySet<string>;
  readonly pending: ReadonlySet<string>;
}

export const NOTHING_ENDED: Ended = { atMs: undefined, ends: new Map(), pods: new Map() };

/** For how long a pod that gives no answer is remembered, in ms: longer than Kubernetes waits before it starts a container again. */
const REMEMBERED_MS = 900_000;

/**
 * Adds the ends of processes that were seen since the probe before. One has ended where its pod has another process now. What it was last
 * seen at answers for it, in equal parts: memory is taken by what is under way, and that ends with the process, so that no counter of
 * finished work ever has it. A pod that was replaced is no end: whoever deletes or evicts one does not mean its work.
 */
export function nextEnded(before: Ended, { atMs, repoServers }: Pick<ProbeResult, "atMs" | "repoServers">): Ended {
  const ends = faded(before.ends, before.atMs, atMs);
  const pods = new Map([...before.pods].filter(([, { readAtMs }]) => atMs - readAtMs < REMEMBERED_MS));
  for (const [pod, page] of repoServers) {
    const startedAt = page?.counters.startedAt;
    if (page === undefined || startedAt === undefined) continue;
    const last = pods.get(pod);
    const ended = last === undefined || last.startedAt >= startedAt ? new Set<string>() : underWayOf(last);
    for (const repository of ended) ends.set(repository, (ends.get(repository) ?? 0) + 1 / ended.size);
    const { fetchesBegun, pending } = page;
    const atWork = atWorkOf(last?.startedAt === startedAt ? last : undefined, page);
    pods.set(pod, { startedAt, readAtMs: atMs, fetchesBegun, atWork, pending });
  }
  return { atMs, ends: withoutTraces(ends), pods };
}

/**
 * What takes a process's memory: what is at work. Where nothing is, whatever is pending, which is rendered then, or comes from a registry.
 * Beside what is at work the rest does not count: a request that waits for one of the few places is pending too, and who takes them all is no
 * victim of those who wait.
 */
function underWayOf({ atWork, pending }: ProcessOfPod): ReadonlySet<string> {
  return atWork.size > 0 ? atWork : pending;
}

/**
 * What is being fetched, and what was fetched since it is pending: that has a place, and is checked out or rendered now, which takes as much
 * memory as the fetch did.
 */
function atWorkOf(last: ProcessOfPod | undefined, { fetchesBegun, fetching, pending }: HealthPage): ReadonlySet<string> {
  const hasFetched = (repository: string): boolean =>
    last?.atWork.has(repository) === true || (fetchesBegun.get(repository) ?? 0) > (last?.fetchesBegun.get(repository) ?? 0);
  return new Set([...fetching, ...[...pending].filter(hasFetched)]);
}
