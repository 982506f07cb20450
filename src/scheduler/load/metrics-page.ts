import { type MetricsSample, readMetricsLine } from "../../domain/metrics-line.ts";

/**
 * What is kept of the metrics page of a controller or a repo-server, which have only the process's metrics in common: sums, without labels
 * of applications or resources. Counters are as the page has them.
 */
export interface PageSums {
  /** When the process began, seconds since the epoch; absent: it did not say. */
  readonly startedAt: number | undefined;
  readonly cpuSeconds: number | undefined;
  /** Its resident memory; absent: it did not say. */
  readonly residentBytes: number | undefined;
  /** Calls to Kubernetes, by project. */
  readonly requests: ReadonlyMap<string, number>;
  /** Seconds spent on comparing applications, by the server of the cluster entry they deploy through. */
  readonly reconcileSeconds: ReadonlyMap<string, number>;
  /** How many comparisons that were. */
  readonly reconciliations: ReadonlyMap<string, number>;
  /** Requests for the newest revision, and the seconds that all Git requests took, by repository. */
  readonly gitRequests: ReadonlyMap<string, number>;
  readonly gitSeconds: ReadonlyMap<string, number>;
  /** Objects in its caches; absent: it did not say. */
  readonly cachedObjects: number | undefined;
  /** The same by the server of the cluster entry, and the APIs that are watched there. */
  readonly entryObjects: ReadonlyMap<string, number>;
  readonly entryApis: ReadonlyMap<string, number>;
}

export type LoadPage =
  | { readonly kind: "page"; readonly sums: PageSums }
  /** It is not a page of metrics, or larger than one can be. */
  | { readonly kind: "refused"; readonly rule: Refusal };

type Refusal = "TOO_LARGE" | "TOO_MANY_PROJECTS" | "TOO_MANY_SERVERS" | "TOO_MANY_REPOSITORIES" | "NOT_A_PAGE";

export interface PageReader {
  /** Takes one line; false: the rest need not be read. */
  take(line: string): boolean;
  end(): LoadPage;
}

export const PAGE_LIMITS = {
  /** A thousand applications have a hundred thousand series of some three hundred characters at most. */
  characters: 64 * 2 ** 20,
  line: 65_536,
  projects: 20_000,
  servers: 20_000,
  repositories: 20_000,
  /** A name in a label; Kubernetes has none that is longer. */
  label: 253,
  /** An address in a label, longer than any that is accepted of users. */
  address: 2_048,
};

const CPU = "process_cpu_seconds_total";
const RESIDENT = "process_resident_memory_bytes";
const STARTED = "process_start_time_seconds";
const REQUESTS = "argocd_app_k8s_request_total";
const RECONCILE_TIME = "argocd_app_reconcile_sum";
const RECONCILED = "argocd_app_reconcile_count";
const GIT = "argocd_git_request_total";
const GIT_TIME = "argocd_git_request_duration_seconds_sum";
const CACHED = "argocd_cluster_api_resource_objects";
const APIS = "argocd_cluster_api_resources";
const NAMES: ReadonlySet<string> = new Set([CPU, RESIDENT, STARTED, REQUESTS, RECONCILE_TIME, RECONCILED, GIT, GIT_TIME, CACHED, APIS]);

/**
 * Sums up a page of the Prometheus text format while it comes, in memory that depends on the number of projects, servers and
 * repositories alone. Other metrics than these ten are skipped; an impossible value (not a number, negative, infinite) is ignored.
 *
 * Source of the names: Argo CD 3.5 controller/metrics.
 */
export function parseLoadPage(limits: typeof PAGE_LIMITS = PAGE_LIMITS): PageReader {
  const requests = sumsBy("project", { longest: limits.label, most: limits.projects, rule: "TOO_MANY_PROJECTS" });
  const byServer = { longest: limits.address, most: limits.servers, rule: "TOO_MANY_SERVERS" } as const;
  const [reconcileTime, reconciled] = [sumsBy("dest_server", byServer), sumsBy("dest_server", byServer)];
  const [entryObjects, entryApis] = [sumsBy("server", byServer), sumsBy("server", byServer)];
  const byRepo = { longest: limits.address, most: limits.repositories, rule: "TOO_MANY_REPOSITORIES" } as const;
  const [git, gitTime] = [sumsBy("repo", byRepo), sumsBy("repo", byRepo)];
  const summed: ReadonlyMap<string, SumsBy> = new Map([
    [REQUESTS, requests],
    [RECONCILE_TIME, reconcileTime],
    [RECONCILED, reconciled],
    [GIT, git],
    [GIT_TIME, gitTime],
    [APIS, entryApis],
  ]);
  const gauges = new Map<string, number>();
  let characters = 0;
  let refused: Refusal | undefined;
  const count = (sample: MetricsSample): void => {
    const { name, value } = sample;
    const sums = summed.get(name);
    // Of other Git requests (fetches) only the time counts.
    if (name === GIT && sample.labels.get("request_type") !== "ls-remote") return;
    if (sums !== undefined) refused = sums.add(sample);
    else gauges.set(name, name === CACHED ? (gauges.get(name) ?? 0) + value : value);
    if (name === CACHED) refused = entryObjects.add(sample);
  };
  return {
    take(line) {
      characters += line.length + 1;
      if (characters > limits.characters) refused = "TOO_LARGE";
      const sample = refused === undefined && line.length <= limits.line ? readMetricsLine(line, NAMES) : undefined;
      if (sample !== undefined) count(sample);
      return refused === undefined;
    },
    end() {
      if (refused === undefined && gauges.size === 0) refused = "NOT_A_PAGE";
      if (refused !== undefined) return { kind: "refused", rule: refused };
      const [startedAt, cpuSeconds, residentBytes] = [gauges.get(STARTED), gauges.get(CPU), gauges.get(RESIDENT)];
      const cachedObjects = gauges.get(CACHED);
      const comparisons = { reconcileSeconds: reconcileTime.sums, reconciliations: reconciled.sums };
      const byRepository = { gitRequests: git.sums, gitSeconds: gitTime.sums };
      const entries = { entryObjects: entryObjects.sums, entryApis: entryApis.sums };
      return {
        kind: "page",
        sums: { startedAt, cpuSeconds, residentBytes, requests: requests.sums, ...comparisons, ...byRepository, cachedObjects, ...entries },
      };
    },
  };
}

interface SumsBy {
  readonly sums: ReadonlyMap<string, number>;
  /** Returns why the rest of the page is not read. */
  add(sample: MetricsSample): Refusal | undefined;
}

/** Sums of a metric by one of its labels; a sample without the label, or with an impossible one, is left out. */
function sumsBy(label: string, { longest, most, rule }: { longest: number; most: number; rule: Refusal }): SumsBy {
  const sums = new Map<string, number>();
  return {
    sums,
    add({ labels, value }) {
      const key = labels.get(label);
      if (key === undefined || key.length > longest) return undefined;
      if (!sums.has(key) && sums.size >= most) return rule;
      sums.set(key, (sums.get(key) ?? 0) + value);
      return undefined;
    },
  };
}
