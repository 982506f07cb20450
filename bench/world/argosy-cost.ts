import { readStat, residentBytes } from "../../hack/dev-cluster/processes/proc.ts";
import type { Fleet } from "../../hack/fleet/fleet.ts";

/** What all Argosy processes have used since their start. */
export interface Cost {
  readonly at: number;
  readonly cpuSeconds: number;
  /** CPU of git, which Argosy starts for each probe of a repository, once it has ended. */
  readonly gitSeconds: number;
  readonly residentMiB: number;
  /** Used heap of JavaScript, after the last collection of each process. */
  readonly heapMiB: number;
  /** Statements sent to the database by name, those that begin and end transactions included. */
  readonly statements: ReadonlyMap<string, number>;
  /** Requests to Kubernetes, by method. */
  readonly requests: ReadonlyMap<string, number>;
  /** Complete lists of what is watched, by cluster. */
  readonly lists: ReadonlyMap<string, number>;
  /** Objects that are watched now, by kind (`applications.argoproj.io`); one that two watches show counts twice. */
  readonly watched: ReadonlyMap<string, number>;
  /** Keys that wait for their turn now, by queue. */
  readonly queued: ReadonlyMap<string, number>;
}

const TICKS_PER_SECOND = 100;
const MIB = 2 ** 20;

export async function readCost({ processes, token }: Pick<Fleet, "processes" | "token">): Promise<Cost> {
  const headers = { authorization: `Bearer ${token}` };
  const pages = await Promise.all(processes.map(async ({ url }) => (await fetch(`${url}/metrics`, { headers })).text()));
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    at: performance.now(),
    cpuSeconds: sum(processes.map(({ pid }) => readStat(pid)?.cpuTicks ?? 0)) / TICKS_PER_SECOND,
    gitSeconds: sum(processes.map(({ pid }) => readStat(pid)?.childTicks ?? 0)) / TICKS_PER_SECOND,
    residentMiB: sum(processes.map(({ pid }) => residentBytes(pid) ?? 0)) / MIB,
    heapMiB: sum(pages.map((page) => sum([...samplesOf(page, "nodejs_heap_size_used_bytes", undefined).values()]))) / MIB,
    statements: merged(pages.map((page) => samplesOf(page, "argosy_store_statements_total", "statement"))),
    requests: merged(pages.map((page) => samplesOf(page, "argosy_kube_requests_total", "method"))),
    lists: merged(pages.map((page) => samplesOf(page, "argosy_kube_reflector_relists_total", "cluster"))),
    queued: merged(pages.map((page) => samplesOf(page, "argosy_queue_depth", "queue"))),
    watched: merged(pages.map((page) => samplesOf(page, "argosy_kube_reflector_objects", "resource"))),
  };
}

/** Values of one metric in Prometheus' text format, summed by one of its labels, or all under "". */
export function samplesOf(page: string, metric: string, label: string | undefined): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of page.split("\n")) {
    if (!line.startsWith(`${metric}{`) && !line.startsWith(`${metric} `)) continue;
    const key = label === undefined ? "" : (new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1] ?? "");
    values.set(key, (values.get(key) ?? 0) + Number(line.slice(line.lastIndexOf(" ") + 1)));
  }
  return values;
}

export function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, value) => sum + value, 0);
}

/** What was counted between two readings, sorted by frequency. */
export function countedBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  return [...after]
    .map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const)
    .filter(([, value]) => value > 0)
    .sort((a, b) => b[1] - a[1]);
}

function merged(maps: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const map of maps) for (const [key, value] of map) all.set(key, (all.get(key) ?? 0) + value);
  return all;
}
