import type { SignalName, Signals } from "../domain/health.ts";
import type { CounterName, GitCount, HealthPage } from "./parse-page.ts";

/** What one look at an instance's processes found; times are of a clock that only grows, in ms. */
export interface ProbeResult {
  readonly atMs: number;
  readonly wallS: number;
  /** Absent: it could not be read. */
  readonly controller: HealthPage | undefined;
  /** Asked and silent; absent: nobody can say, because its pod or its cluster is away. */
  readonly controllerAnswers: boolean | undefined;
  /** By pod; `undefined` of one: it was asked and said nothing. */
  readonly repoServers: ReadonlyMap<string, HealthPage | undefined>;
}

export interface Workers {
  readonly statusProcessors: number;
  readonly operationProcessors: number;
}

/** Rates are of a minute: counters of two looks about as far apart are compared. */
const SPAN_MS = 60_000;
/** Failures are of the time just gone: a minute after redis has come back they would still look like one that is away. */
const RECENT_MS = 20_000;
/** Looks nearer than this say little. */
const SHORTEST_MS = 5_000;
/** Fewer comparisons than this say nothing of what each asks redis for. */
const FEWEST_RECONCILES = 3;
const SLOW_GIT_S = 1;

/** The look that another one is compared with: the youngest that is so much older, or the oldest there is. Looks are sorted by time. */
function baseOf(observations: readonly ProbeResult[], now: ProbeResult, spanMs: number = SPAN_MS): ProbeResult | undefined {
  const before = observations.filter(({ atMs }) => now.atMs - atMs >= SHORTEST_MS);
  return before.findLast(({ atMs }) => now.atMs - atMs >= spanMs) ?? before[0];
}

/** Looks that are still of use after `now`: those of the last minute, and the youngest before. */
export function keptProbes(observations: readonly ProbeResult[], now: ProbeResult): readonly ProbeResult[] {
  const base = baseOf(observations, now);
  return [...observations.filter(({ atMs }) => base === undefined || atMs >= base.atMs), now];
}

/**
 * What an instance's metrics say of the time between the looks before and this one. What a process that has begun anew says is not compared
 * with the old one's.
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

/** How much counters of the controller grew, if it is the same one. One goes back when the controller forgets applications that are gone. */
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

/** What is a number: anything else was not measured, and could not be stored or shown. */
export function known(signals: Readonly<Partial<Record<SignalName, number | undefined>>>): Signals {
  return Object.fromEntries(Object.entries(signals).filter(([, value]) => value !== undefined && Number.isFinite(value)));
}
