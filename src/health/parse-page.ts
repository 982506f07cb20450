import { type MetricsSample, readMetricsLine } from "../domain/metrics-line.ts";

export type CounterName =
  | "startedAt"
  | "residentBytes"
  | "reconciles"
  | "reconcileS"
  | "reconcilesWithin16"
  | "waits"
  | "waitS"
  | "waitsWithin10"
  | "depth"
  | "operationWaits"
  | "operationWaitS"
  | "operationWorkS"
  | "redisRequests"
  | "redisFailed"
  | "applications";

/** What is kept of the metrics page of a controller or a repo-server. */
export interface HealthPage {
  /** The values, summed over applications and clusters. Absent: the page does not have the metric. */
  readonly counters: Readonly<Partial<Record<CounterName, number>>>;
  /** Requests to Git of any kind and the seconds they took, by repository. */
  readonly git: ReadonlyMap<string, GitCount>;
}

export interface GitCount {
  readonly requests: number;
  readonly seconds: number;
}

export interface HealthPageReader {
  /** Takes one line. False: the rest need not be read. */
  take(line: string): boolean;
  /** `undefined`: it is not the page of an Argo CD process, or it is larger than any real one. */
  end(): HealthPage | undefined;
}

export const HEALTH_PAGE_LIMITS = { characters: 64 * 2 ** 20, line: 65_536, repositories: 20_000, address: 2_048 };

const RECONCILES = "app_reconciliation_queue";
const OPERATIONS = "app_operation_processing_queue";

type Count = (sample: MetricsSample) => readonly CounterName[];
const always = (name: CounterName): Count => {
  const counters = [name];
  return () => counters;
};
const ofQueues = (reconciles: readonly CounterName[], operations: readonly CounterName[]): Count => {
  return ({ labels }) => (labels.get("name") === RECONCILES ? reconciles : labels.get("name") === OPERATIONS ? operations : []);
};
/** Buckets are cumulative: each counts the observations up to its bound. */
const within = (bound: string, counted: Count): Count => {
  return (sample) => (sample.labels.get("le") === bound ? counted(sample) : []);
};

/** Which counters a metric adds to. Source: Argo CD 3.5 controller/metrics, client-go's workqueue metrics. */
const COUNTED: Readonly<Record<string, Count>> = {
  process_start_time_seconds: always("startedAt"),
  process_resident_memory_bytes: always("residentBytes"),
  argocd_app_info: always("applications"),
  argocd_app_reconcile_count: always("reconciles"),
  argocd_app_reconcile_sum: always("reconcileS"),
  argocd_app_reconcile_bucket: within("16", always("reconcilesWithin16")),
  workqueue_depth: ofQueues(["depth"], []),
  workqueue_queue_duration_seconds_count: ofQueues(["waits"], ["operationWaits"]),
  workqueue_queue_duration_seconds_sum: ofQueues(["waitS"], ["operationWaitS"]),
  workqueue_queue_duration_seconds_bucket: within("10", ofQueues(["waitsWithin10"], [])),
  workqueue_work_duration_seconds_sum: ofQueues([], ["operationWorkS"]),
  argocd_redis_request_total: ({ labels }) => (labels.get("failed") === "true" ? ["redisRequests", "redisFailed"] : ["redisRequests"]),
};
const GIT_COUNT = "argocd_git_request_duration_seconds_count";
const GIT_SECONDS = "argocd_git_request_duration_seconds_sum";
const NAMES: ReadonlySet<string> = new Set([...Object.keys(COUNTED), GIT_COUNT, GIT_SECONDS]);

/** Sums up a page while it is read, in memory that depends only on the number of repositories. Other metrics are skipped. */
export function parseHealthPage(limits: typeof HEALTH_PAGE_LIMITS = HEALTH_PAGE_LIMITS): HealthPageReader {
  const counters: Partial<Record<CounterName, number>> = {};
  const git = new Map<string, GitCount>();
  let characters = 0;
  let isRefused = false;
  const countGit = (repository: string, requests: number, seconds: number): void => {
    if (repository.length > limits.address) return;
    const before = git.get(repository);
    if (before === undefined && git.size >= limits.repositories) isRefused = true;
    else git.set(repository, { requests: (before?.requests ?? 0) + requests, seconds: (before?.seconds ?? 0) + seconds });
  };
  const count = (sample: MetricsSample): void => {
    const { name, labels, value } = sample;
    if (name === GIT_COUNT) countGit(labels.get("repo") ?? "", value, 0);
    else if (name === GIT_SECONDS) countGit(labels.get("repo") ?? "", 0, value);
    else for (const counter of COUNTED[name]?.(sample) ?? []) counters[counter] = (counters[counter] ?? 0) + value;
  };
  return {
    take(line) {
      characters += line.length + 1;
      if (characters > limits.characters) isRefused = true;
      const sample = isRefused || line.length > limits.line ? undefined : readMetricsLine(line, NAMES);
      if (sample !== undefined) count(sample);
      return !isRefused;
    },
    end: () => (isRefused || counters.startedAt === undefined ? undefined : { counters, git }),
  };
}
