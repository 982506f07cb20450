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
  /** The seconds that fetches took, by repository: what clones and updates checkouts. Asking for the newest revision does not count. */
  readonly fetchSeconds: ReadonlyMap<string, number>;
  /** How many fetches have begun, by repository, also those that have ended. */
  readonly fetchesBegun: ReadonlyMap<string, number>;
  /** Repositories that a fetch of has begun and not ended. */
  readonly fetching: ReadonlySet<string>;
  /**
   * Repositories, registries and chart repositories that a request is under way for: to fetch, check out or render, or one that waits for
   * its turn to do so. What comes from the cache does not count.
   */
  readonly pending: ReadonlySet<string>;
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
/** Counts a request when it begins. {@link GIT_COUNT} does when it ends. */
const GIT_BEGUN = "argocd_git_request_total";
const PENDING = "argocd_repo_pending_request_total";
const NAMES: ReadonlySet<string> = new Set([...Object.keys(COUNTED), GIT_COUNT, GIT_SECONDS, GIT_BEGUN, PENDING]);

/** Sums up a page while it is read, in memory that depends only on the number of repositories. Other metrics are skipped. */
export function parseHealthPage(limits: typeof HEALTH_PAGE_LIMITS = HEALTH_PAGE_LIMITS): HealthPageReader {
  const counters: Partial<Record<CounterName, number>> = {};
  const git = new Map<string, GitCount>();
  const fetchSeconds = new Map<string, number>();
  const begun = new Map<string, number>();
  const fetches = new Map<string, number>();
  const pending = new Map<string, number>();
  let characters = 0;
  let isRefused = false;
  const countGit = (repository: string, requests: number, seconds: number): void => {
    if (repository.length > limits.address) return;
    const before = git.get(repository);
    if (before === undefined && git.size >= limits.repositories) isRefused = true;
    else git.set(repository, { requests: (before?.requests ?? 0) + requests, seconds: (before?.seconds ?? 0) + seconds });
  };
  const countSeconds = ({ labels, value }: MetricsSample): void => {
    const repository = labels.get("repo") ?? "";
    countGit(repository, 0, value);
    if (labels.get("request_type") === "fetch" && git.has(repository))
      fetchSeconds.set(repository, (fetchSeconds.get(repository) ?? 0) + value);
  };
  const add = (to: Map<string, number>, repository: string, value: number): void => {
    if (repository.length > limits.address) return;
    if (!to.has(repository) && to.size >= limits.repositories) isRefused = true;
    else to.set(repository, (to.get(repository) ?? 0) + value);
  };
  const countFetches = (to: Map<string, number>, { labels }: MetricsSample, value: number): void => {
    if (labels.get("request_type") === "fetch") add(to, labels.get("repo") ?? "", value);
  };
  const ofRepositories: Readonly<Record<string, (sample: MetricsSample) => void>> = {
    [GIT_BEGUN](sample) {
      countFetches(fetches, sample, sample.value);
      countFetches(begun, sample, sample.value);
    },
    [GIT_COUNT](sample) {
      countFetches(fetches, sample, -sample.value);
      countGit(sample.labels.get("repo") ?? "", sample.value, 0);
    },
    [GIT_SECONDS]: countSeconds,
    [PENDING]: ({ labels, value }) => add(pending, labels.get("repo") ?? "", value),
  };
  const count = (sample: MetricsSample): void => {
    const { name, value } = sample;
    const ofRepository = ofRepositories[name];
    if (ofRepository !== undefined) ofRepository(sample);
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
    end() {
      if (isRefused || counters.startedAt === undefined) return undefined;
      return { counters, git, fetchSeconds, fetchesBegun: begun, fetching: positive(fetches), pending: positive(pending) };
    },
  };
}

function positive(counts: ReadonlyMap<string, number>): ReadonlySet<string> {
  return new Set([...counts].flatMap(([repository, count]) => (count > 0 ? [repository] : [])));
}
