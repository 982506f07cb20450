/** What is kept of a controller's metrics page: sums, no label of an application or resource. Counters are as they stand. */
export interface PageSums {
  /** When the process began, seconds since the epoch; absent: it did not say. */
  readonly startedAt: number | undefined;
  readonly cpuSeconds: number | undefined;
  /** Calls to Kubernetes, by project. */
  readonly requests: ReadonlyMap<string, number>;
  /** Objects in its caches; absent: it did not say. */
  readonly cachedObjects: number | undefined;
}

export type Page =
  | { readonly kind: "page"; readonly sums: PageSums }
  /** It is not what a controller says of itself, or more than anybody can have. */
  | { readonly kind: "refused"; readonly rule: "TOO_LARGE" | "TOO_MANY_PROJECTS" | "NOT_A_PAGE" };

export interface PageReader {
  /** Takes one line; false: the rest need not be read. */
  take(line: string): boolean;
  end(): Page;
}

export const PAGE_LIMITS = {
  /** A thousand applications have a hundred thousand series of some three hundred characters at most. */
  characters: 64 * 2 ** 20,
  line: 65_536,
  projects: 20_000,
  /** A name in a label; Kubernetes has none that is longer. */
  label: 253,
};

const CPU = "process_cpu_seconds_total";
const STARTED = "process_start_time_seconds";
const REQUESTS = "argocd_app_k8s_request_total";
const CACHED = "argocd_cluster_api_resource_objects";
const NAMES: readonly string[] = [CPU, STARTED, REQUESTS, CACHED];

/**
 * Sums up a page of the Prometheus text format while it comes, in memory that depends on the number of projects alone. What is
 * not one of four metrics is passed over; a value that cannot be one (not a number, negative, endless) is as if it were not there.
 *
 * Source of the format: https://prometheus.io/docs/instrumenting/exposition_formats/, of the names: Argo CD 3.5 controller/metrics.
 */
export function readPage(limits: typeof PAGE_LIMITS = PAGE_LIMITS): PageReader {
  const requests = new Map<string, number>();
  const gauges = new Map<string, number>();
  let characters = 0;
  let refused: Extract<Page, { kind: "refused" }>["rule"] | undefined;
  const add = (name: string, value: number): void => void gauges.set(name, (gauges.get(name) ?? 0) + value);
  const count = ({ name, labels, value }: Sample): void => {
    if (name !== REQUESTS) return name === CACHED ? add(name, value) : void gauges.set(name, value);
    const project = labels.get("project");
    if (project === undefined || project.length > limits.label) return;
    if (!requests.has(project) && requests.size >= limits.projects) refused = "TOO_MANY_PROJECTS";
    else requests.set(project, (requests.get(project) ?? 0) + value);
  };
  return {
    take(line) {
      characters += line.length + 1;
      if (characters > limits.characters) refused = "TOO_LARGE";
      const sample = refused === undefined && line.length <= limits.line ? sampleOf(line) : undefined;
      if (sample !== undefined) count(sample);
      return refused === undefined;
    },
    end() {
      if (refused === undefined && gauges.size === 0) refused = "NOT_A_PAGE";
      if (refused !== undefined) return { kind: "refused", rule: refused };
      const [startedAt, cpuSeconds, cachedObjects] = [gauges.get(STARTED), gauges.get(CPU), gauges.get(CACHED)];
      return { kind: "page", sums: { startedAt, cpuSeconds, requests, cachedObjects } };
    },
  };
}

interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** What follows a label: another one, or the end, before which a comma may stand. */
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(,?\}|,)/y;
/** A value, and perhaps the time it was taken. */
const VALUE = /^ +(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?: +-?\d+)? *$/;

/** A line of one of the metrics that are read. */
function sampleOf(line: string): Sample | undefined {
  const name = NAMES.find((each) => line.startsWith(each));
  if (name === undefined) return undefined;
  const found = labelsOf(line, name.length);
  const value = found && Number(VALUE.exec(line.slice(found.end))?.[1]);
  return found !== undefined && Number.isFinite(value) ? { name, labels: found.labels, value: value as number } : undefined;
}

/** Labels are read one after the other: a value may hold anything, something that looks like a label too. */
function labelsOf(line: string, from: number): { readonly labels: ReadonlyMap<string, string>; readonly end: number } | undefined {
  const labels = new Map<string, string>();
  if (line[from] !== "{") return { labels, end: from };
  if (line[from + 1] === "}") return { labels, end: from + 2 };
  LABEL.lastIndex = from + 1;
  for (let match = LABEL.exec(line); match !== null; match = LABEL.exec(line)) {
    labels.set(match[1] ?? "", match[2] ?? "");
    if (match[3] !== ",") return { labels, end: LABEL.lastIndex };
  }
  return undefined;
}
