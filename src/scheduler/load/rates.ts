import type { PageSums } from "./metrics-page.ts";

/** What a process said, and when. */
export interface PageAt {
  readonly of: "controller" | "repo-server";
  /** Absent: it could not be read or believed. */
  readonly sums: PageSums | undefined;
  /** On a clock that only grows, ms. */
  readonly atMs: number;
}

/** What an instance's processes said, by pod. */
export type PagesAt = ReadonlyMap<string, PageAt>;

/** What happened in the time between two samples of an instance. */
export interface Rates {
  /** Of the controller, thousandths of a core. */
  readonly milliCpu: number;
  /** Calls to Kubernetes, by project. */
  readonly requestsPerMinute: PerMinute;
  /** Thousandths of a second of comparisons, by server. */
  readonly reconcileMs: PerMinute;
  /** How many comparisons that were, by server. */
  readonly reconciliations: PerMinute;
  /** Absent: repo-servers cannot be asked, or one did not say. */
  readonly git: GitRates | undefined;
}

export interface GitRates {
  /** Requests for the newest revision, by repository. */
  readonly requests: PerMinute;
  /** Thousandths of a second that all requests took, by repository. */
  readonly ms: PerMinute;
}

export type PerMinute = Readonly<Record<string, number>>;

/** Pages that are nearer to each other show chance more than load, in ms. */
const NEAREST_MS = 10_000;
/** Pages that are farther apart do not show the present, in ms. */
export const FARTHEST_MS = 1_800_000;

/**
 * The rates between two samples of an instance. `undefined` if its controller's pages cannot be compared: the process is another one, they
 * are too near or too far apart, or a counter went back. The CPU of repo-servers is left out: most of it is used by their child processes.
 */
export function ratesOf(before: PagesAt | undefined, after: PagesAt): Rates | undefined {
  const spans = [...after].map(([pod, page]) => ({ of: page.of, span: spanOf(before?.get(pod), page) }));
  const span = spans.find(({ of }) => of === "controller")?.span;
  if (span === undefined) return undefined;
  const cpuSeconds = (span.after.cpuSeconds ?? Number.NaN) - (span.before.cpuSeconds ?? Number.NaN);
  const requestsPerMinute = growth(span, "requests");
  const reconcileMs = growth(span, "reconcileSeconds", 1_000);
  const reconciliations = growth(span, "reconciliations");
  if (!(cpuSeconds >= 0) || requestsPerMinute === undefined || reconcileMs === undefined || reconciliations === undefined) return undefined;
  const repoServers = spans.filter(({ of }) => of === "repo-server").map((each) => each.span);
  const milliCpu = Math.round((cpuSeconds * 1_000) / (span.minutes * 60));
  return { milliCpu, requestsPerMinute, reconcileMs, reconciliations, git: gitOf(repoServers) };
}

interface Span {
  readonly before: PageSums;
  readonly after: PageSums;
  readonly minutes: number;
}

function spanOf(before: PageAt | undefined, { sums: after, atMs }: PageAt): Span | undefined {
  const elapsedMs = atMs - (before?.atMs ?? Number.NaN);
  if (before?.sums === undefined || after === undefined || !(elapsedMs >= NEAREST_MS && elapsedMs <= FARTHEST_MS)) return undefined;
  if (before.sums.startedAt !== after.startedAt || after.startedAt === undefined) return undefined;
  return { before: before.sums, after, minutes: elapsedMs / 60_000 };
}

/** Of all repo-servers together; absent if one of them did not report, because most of it may be missing. */
function gitOf(spans: readonly (Span | undefined)[]): GitRates | undefined {
  const requests = spans.map((span) => span && growth(span, "gitRequests"));
  const ms = spans.map((span) => span && growth(span, "gitSeconds", 1_000));
  const isWhole = (rates: readonly (PerMinute | undefined)[]): rates is readonly PerMinute[] => !rates.includes(undefined);
  return spans.length > 0 && isWhole(requests) && isWhole(ms) ? { requests: together(requests), ms: together(ms) } : undefined;
}

/** Growth of counters a minute, times `factor`; `undefined` where one went back. */
function growth(
  { before, after, minutes }: Span,
  of: "requests" | "reconcileSeconds" | "reconciliations" | "gitRequests" | "gitSeconds",
  factor = 1,
): PerMinute | undefined {
  const rates = [...after[of]].map(([key, count]) => [key, ((count - (before[of].get(key) ?? 0)) * factor) / minutes] as const);
  return rates.every(([, rate]) => rate >= 0) ? Object.fromEntries(rates) : undefined;
}

function together(all: readonly PerMinute[]): PerMinute {
  const sums = new Map<string, number>();
  for (const [key, rate] of all.flatMap((each) => Object.entries(each))) sums.set(key, (sums.get(key) ?? 0) + rate);
  return Object.fromEntries(sums);
}
