import type { SignalName, Signals } from "../domain/health.ts";
import type { CounterName, GitCount, HealthPage } from "./parse-page.ts";

/** What one probe of an instance's processes found. `atMs`: of a monotonic clock, in ms. */
export interface ProbeResult {
  readonly atMs: number;
  readonly wallS: number;
  /** Absent: it could not be read. */
  readonly controller: HealthPage | undefined;
  /** False: it was asked and did not answer. Absent: unknown, because its pod or its cluster cannot be reached. */
  readonly controllerAnswers: boolean | undefined;
  /** By pod. `undefined` for one: it was asked and did not answer. */
  readonly repoServers: ReadonlyMap<string, HealthPage | undefined>;
}

export interface Workers {
  readonly statusProcessors: number;
  readonly operationProcessors: number;
}

/** The time over which rates are taken, in ms: counters of two probes about this far apart are compared. */
const SPAN_MS = 60_000;
/**
 * The time over which failures of redis are counted, in ms. Over a whole minute, redis would still seem broken a
 * minute after it has come back.
 */
const RECENT_MS = 20_000;
/** Two probes that are closer together than this are not compared, in ms. */
const SHORTEST_MS = 5_000;
/** With fewer comparisons than this, requests to redis per comparison are not computed. */
const FEWEST_RECONCILES = 3;
const SLOW_GIT_S = 1;

/** The probe to compare with: the youngest that is at least `spanMs` older, else the oldest. Probes are sorted by time. */
function baseOf(observations: readonly ProbeResult[], now: ProbeResult, spanMs: number = SPAN_MS): ProbeResult | undefined {
  const before = observations.filter(({ atMs }) => now.atMs - atMs >= SHORTEST_MS);
  return before.findLast(({ atMs }) => now.atMs - atMs >= spanMs) ?? before[0];
}

/** The probes to keep after `now`: those of the last minute, and the youngest before them. */
export function keptProbes(observations: readonly ProbeResult[], now: ProbeResult): readonly ProbeResult[] {
  const base = baseOf(observations, now);
  return [...observations.filter(({ atMs }) => base === undefined || atMs >= base.atMs), now];
}

/**
 * Derives signals from an instance's metrics, by comparing this probe with earlier ones. Counters of a process that
 * has restarted are not compared with those from before.
 */
export function deriveSignals(observations: readonly ProbeResult[], now: ProbeResult, workers: Workers): Signals {
  const [base, recent] = [baseOf(observations, now), baseOf(observations, now, RECENT_MS)];
  const asked = [...now.repoServers.values()];
  const startedAt = now.controller?.counters.startedAt;
  return known({
    controllerAnswers: now.controllerAnswers === undefined ? undefined : Number(now.controllerAnswers),
    repoServerAnswers: asked.length === 0 ? undefined : asked.filter((page) => page !== undefined).length / asked.length,
    uptimeS: startedAt === undefined ? undefined : Math.max(0, now.wallS - startedAt),
    queueDepth: now.controller?.counters.depth,
    applications: now.controller?.counters.applications,
    ...(base === undefined ? {} : { ...ratesOf(base, now, workers), ...gitOf(base, now) }),
    redisFailuresPerS: recent === undefined ? undefined : failuresOf(recent, now),
  });
}

function ratesOf(base: ProbeResult, now: ProbeResult, workers: Workers): Readonly<Partial<Record<SignalName, number | undefined>>> {
  const seconds = (now.atMs - base.atMs) / 1_000;
  const grown = growthBetween(base, now);
  if (grown === undefined) return {};
  const share = (part: number | undefined, of: number | undefined) => (part === undefined || !of ? undefined : part / of);
  const beyond = (all: number | undefined, within: number | undefined) =>
    all === undefined || within === undefined ? undefined : Math.max(0, all - within);
  const [reconciles, waits, operationWaits] = [grown("reconciles"), grown("waits"), grown("operationWaits")];
  const isTelling = reconciles !== undefined && reconciles >= FEWEST_RECONCILES;
  return {
    reconcilesPerS: share(reconciles, seconds),
    reconcileS: share(grown("reconcileS"), reconciles),
    reconcileOver16: share(beyond(reconciles, grown("reconcilesWithin16")), reconciles),
    utilisation: share(grown("reconcileS"), seconds * workers.statusProcessors),
    queueWaitS: share(grown("waitS"), waits),
    waitingOver10: share(beyond(waits, grown("waitsWithin10")), waits),
    operationUtilisation: share(grown("operationWorkS"), seconds * workers.operationProcessors),
    operationWaitS: share(grown("operationWaitS"), operationWaits),
    redisPerReconcile: isTelling ? share(grown("redisRequests") ?? 0, reconciles) : undefined,
  };
}

/**
 * How much the controller's counters have grown, if it has not restarted. A counter goes back when the controller
 * forgets applications that were deleted.
 */
function growthBetween(base: ProbeResult, now: ProbeResult): ((name: CounterName) => number | undefined) | undefined {
  const [before, after] = [base.controller, now.controller];
  if (before === undefined || after === undefined || before.counters.startedAt !== after.counters.startedAt) return undefined;
  return (name) => {
    const [from = 0, to] = [before.counters[name], after.counters[name]];
    return to === undefined || to < from ? undefined : to - from;
  };
}

function failuresOf(recent: ProbeResult, now: ProbeResult): number | undefined {
  const grown = growthBetween(recent, now);
  return grown === undefined ? undefined : (grown("redisFailed") ?? 0) / ((now.atMs - recent.atMs) / 1_000);
}

function gitOf(base: ProbeResult, now: ProbeResult): Readonly<Partial<Record<SignalName, number | undefined>>> {
  const asked = new Map<string, GitCount>();
  for (const [pod, after] of now.repoServers) {
    const before = base.repoServers.get(pod);
    if (before === undefined || after === undefined || before.counters.startedAt !== after.counters.startedAt) continue;
    for (const [repository, { requests, seconds }] of after.git) {
      const from = before.git.get(repository) ?? { requests: 0, seconds: 0 };
      const sum = asked.get(repository) ?? { requests: 0, seconds: 0 };
      if (requests <= from.requests) continue;
      asked.set(repository, { requests: sum.requests + requests - from.requests, seconds: sum.seconds + seconds - from.seconds });
    }
  }
  const all = [...asked.values()];
  const sumOf = (of: keyof GitCount) => all.reduce((sum, each) => sum + each[of], 0);
  const slow = all.filter(({ requests, seconds }) => seconds / requests > SLOW_GIT_S).length;
  return all.length === 0 ? {} : { gitS: sumOf("seconds") / sumOf("requests"), gitSlowShare: slow / all.length };
}

/** Keeps numbers only. Anything else was not measured, and could be neither stored nor shown. */
export function known(signals: Readonly<Partial<Record<SignalName, number | undefined>>>): Signals {
  return Object.fromEntries(Object.entries(signals).filter(([, value]) => value !== undefined && Number.isFinite(value)));
}
