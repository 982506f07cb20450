import type { Component, HealthCause, SignalName, Signals, VerdictState } from "../domain/health.ts";

/** The settings that verdicts depend on, besides the samples. */
export interface HealthSettings {
  /** How long a controller may be slow after its start, in ms. */
  readonly graceMs: number;
  /** How long comparisons must wait before an instance is called overloaded, in ms. Syncs: twice as long. */
  readonly overloadMs: number;
  /** How often Argo CD compares an application by itself, in s. */
  readonly resyncS: number;
  /** The largest random time that Argo CD adds to `resyncS`, in s. */
  readonly jitterS: number;
}

/** A verdict, and what the samples have to show for it. */
export interface Rule {
  readonly state: VerdictState;
  readonly cause: HealthCause;
  readonly component?: Component;
  /** How long the rule must hold before the verdict is given, in ms. 0: one sample is enough. */
  readonly persistMs: number;
  /** How long the verdict stays after the rule has ceased to hold, in ms. */
  readonly clearMs: number;
  /** Whether the rule holds for one sample. `undefined`: the sample does not tell. */
  readonly holds: (signals: Signals) => boolean | undefined;
  /** The signals that are recorded with the verdict. */
  readonly evidence: readonly SignalName[];
  /** For people. */
  readonly text: string;
}

const MINUTE_MS = 60_000;
/** How long a kill for using too much memory, or an eviction, counts, in s: long enough for the memory to fill up once more. */
export const KILLED_S = 600;

/** Whether one sample meets a condition. `undefined`: a value that it needs is not known. */
type Test = (signals: Signals) => boolean | undefined;
const above =
  (name: SignalName, bound: number): Test =>
  (signals) => {
    const value = signals[name];
    return value === undefined ? undefined : value > bound;
  };
const below =
  (name: SignalName, bound: number): Test =>
  (signals) => {
    const value = signals[name];
    return value === undefined ? undefined : value < bound;
  };
/** True if one test is true, false if all are false, else `undefined`: a test that does not tell decides nothing. */
const any =
  (...tests: readonly Test[]): Test =>
  (signals) => {
    const results = tests.map((test) => test(signals));
    if (results.includes(true)) return true;
    return results.every((result) => result === false) ? false : undefined;
  };
/** False if one test is false, true if all are true, else `undefined`. */
const all =
  (...tests: readonly Test[]): Test =>
  (signals) => {
    const results = tests.map((test) => test(signals));
    if (results.includes(false)) return false;
    return results.every((result) => result === true) ? true : undefined;
  };
/** True if the test is false or does not tell. Never `undefined`. */
const not =
  (test: Test): Test =>
  (signals) =>
    test(signals) !== true;
/** True only if the test is true; false if it does not tell. Never `undefined`. */
const surely =
  (test: Test): Test =>
  (signals) =>
    test(signals) === true;

/**
 * Whether Git is slow: a request takes more than 1 s in the mean, and more than half of the repositories asked took longer
 * than 1 s. Mean on a healthy instance: 0.010 to 0.016 s, 0.04 s in a burst.
 */
const slowGit = all(above("gitS", 1), above("gitSlowShare", 0.5));
/**
 * Whether manifests are rendered: canaries are compared within 5 s and without an error. Without canaries: comparisons
 * take less than 5 s, and no workspace has an application that cannot be compared. A repo-server that gives no metrics
 * does not count as gone while manifests are rendered.
 */
const rendering: Test = ({ canaryS, canaryErrors = 0, reconcileS, troubledUnits }) =>
  canaryS === undefined ? reconcileS !== undefined && reconcileS < 5 && troubledUnits === 0 : canaryS < 5 && canaryErrors === 0;
/**
 * Whether comparisons give up because no repo-server answers. Each then takes 22 s, fails, and makes few requests to redis
 * (0.05 to 0.25). On a controller that is short of CPU comparisons take longer than 16 s too, but make the usual number of
 * requests.
 */
const givingUp = all(above("reconcileOver16", 0.2), any(below("redisPerReconcile", 0.5), above("canaryErrors", 0)), not(slowGit));
const repoServerGone = any(all(below("repoServerAnswers", 0.01), not(rendering)), givingUp);
/**
 * Whether redis does not serve the instance. Healthy: 0.8 to 4 requests to redis per comparison and no failures. Without
 * redis: 0.01 requests per comparison, and 0.15 failures per second. Few requests alone do not show it while a
 * repo-server is gone: comparisons make few then, too.
 */
const redisGone = any(above("redisFailuresPerS", 0), all(below("redisPerReconcile", 0.2), not(repoServerGone)));

// An overload shows in both: comparisons wait for their turn, and are slow. The rule for the cause `slow` has lower bounds of
// its own.
const waiting = any(above("waitingOver10", 0.5), above("queueDepth", 0));
const slow = any(above("canaryS", 5), above("reconcileRatio", 20));

/**
 * The signals about each component's memory. `used`: the share of its limit in use, where the component reports it.
 * `killed`: how long ago it was last killed for using too much.
 */
export const MEMORY: readonly { readonly component: Component; readonly used?: SignalName; readonly killed: SignalName }[] = [
  { component: "controller", used: "controllerMemory", killed: "controllerKilledS" },
  { component: "repo-server", used: "repoServerMemory", killed: "repoServerKilledS" },
  { component: "redis", killed: "redisKilledS" },
];

/**
 * The rules about one component's memory. One holds for some time after the component was killed for using too much: it
 * works again after its restart, but it will be killed again. The other holds while more than 0.95 of its limit is in use. A lower
 * bound would tell nothing: Go keeps the heap below 0.9 of the limit (`GOMEMLIMIT`), but close to that while all is well.
 */
function memoryRules({ component, used, killed }: (typeof MEMORY)[number]): readonly Rule[] {
  const degraded = { state: "degraded", cause: "memory", component, clearMs: MINUTE_MS } as const;
  const wasKilled: Rule = {
    ...degraded,
    persistMs: 0,
    holds: below(killed, KILLED_S),
    evidence: [killed, ...(used === undefined ? [] : [used])],
    text: `its ${component} was ended for using more memory than it may`,
  };
  if (used === undefined) return [wasKilled];
  const isFull = { ...degraded, persistMs: 5 * MINUTE_MS, holds: above(used, 0.95), evidence: [used] };
  return [wasKilled, { ...isFull, text: `its ${component} uses about as much memory as it may` }];
}

/**
 * All rules, in order of precedence: the first that has held for long enough gives the verdict, and causes come before their
 * effects. `newApplications`: how many were added within the window. Comparisons wait while a burst of them is worked
 * off, so the rule about that has to hold one second longer for each five. `before`: the cause of the last verdict.
 *
 * Bounds, times and the noise of healthy instances were measured on Argo CD 3.5.7 with 700 applications, together
 * with each of the states that have to be distinguished; see ADR 0027.
 */
export function rulesOf(
  { graceMs, overloadMs, resyncS, jitterS }: HealthSettings,
  { newApplications, before }: { readonly newApplications: number; readonly before: HealthCause | undefined },
): readonly Rule[] {
  /**
   * How old the newest comparison that Argo CD made by itself may be. In one round it should compare every application:
   * resync time, largest random addition, and a minute more. A sample of 20 applications or more is judged by one round, a
   * smaller one by two resyncs.
   */
  const [roundS, twoRoundsS] = [resyncS + jitterS + 60, 2 * resyncS + jitterS + 60];
  const newestIsOld = any(
    all(above("newestAgeS", roundS), above("sampledApplications", 19)),
    all(above("newestAgeS", twoRoundsS), above("sampledApplications", 0)),
  );
  // Users can delay comparisons of their own applications. Nobody delays the passive canary, the one that is never asked
  // to refresh. So it decides where there is one.
  const comparesNothingByItself = any(all(newestIsOld, not(below("passiveAgeS", roundS))), above("passiveAgeS", twoRoundsS));
  const isSettled = all(any(above("uptimeS", graceMs / 1_000)), not(above("isChanging", 0)));
  /** While an instance is called slow, that rule's bounds are lower: it must be clearly faster to be healthy again. Else it would flap. */
  const ease = before === "slow" ? 0.75 : 1;
  return [
    {
      state: "stalled",
      cause: "controller-stopped",
      component: "controller",
      persistMs: 25_000,
      clearMs: MINUTE_MS,
      // Five seconds are enough here: by the end of `persistMs` such a canary has waited for thirty.
      holds: all(below("controllerAnswers", 1), any(above("canaryS", 5), comparesNothingByItself)),
      evidence: ["controllerAnswers", "canaryS", "passiveAgeS", "newestAgeS"],
      text: "its controller stands still: it gives no answer, and what it was asked to refresh waits",
    },
    {
      state: "stalled",
      cause: "redis",
      component: "redis",
      persistMs: MINUTE_MS,
      clearMs: MINUTE_MS,
      holds: redisGone,
      evidence: ["redisPerReconcile", "redisFailuresPerS", "passiveAgeS", "newestAgeS"],
      text: "redis does not serve it: what nobody asks it to refresh is no longer compared, and everything stays green",
    },
    {
      state: "stalled",
      cause: "repo-server",
      component: "repo-server",
      persistMs: MINUTE_MS,
      clearMs: MINUTE_MS,
      holds: repoServerGone,
      evidence: ["repoServerAnswers", "reconcileOver16", "reconcileS", "canaryS"],
      text: "its repo-server renders nothing: comparisons wait for it until they give up",
    },
    {
      state: "stalled",
      cause: "queue-stuck",
      component: "controller",
      persistMs: 0,
      clearMs: MINUTE_MS,
      holds: all(above("canaryS", 120), below("reconcilesPerS", 0.05)),
      evidence: ["canaryS", "reconcilesPerS", "queueDepth"],
      text: "its controller answers and compares nothing, although it was asked to",
    },
    {
      state: "stalled",
      cause: "periodic-refreshes",
      component: "controller",
      persistMs: MINUTE_MS,
      clearMs: MINUTE_MS,
      holds: all(comparesNothingByItself, not(above("utilisation", 0.5)), not(above("queueDepth", 0))),
      evidence: ["passiveAgeS", "newestAgeS", "sampledApplications", "canaryS"],
      text: "its controller refreshes what it is asked to refresh, and nothing by itself",
    },
    {
      state: "failed",
      cause: "not-ready",
      persistMs: 0,
      clearMs: MINUTE_MS,
      holds: above("unreadyS", 300),
      evidence: ["unreadyS"],
      text: "a component has not been ready for five minutes",
    },
    {
      state: "overloaded",
      cause: "queue",
      // A canary that has waited for two minutes is enough: `overloadMs` does not count here.
      persistMs: 0,
      clearMs: MINUTE_MS,
      holds: all(surely(isSettled), above("canaryS", 120), above("queueDepth", 0), above("utilisation", 0.7)),
      evidence: ["canaryS", "queueDepth", "waitingOver10", "queueWaitS", "utilisation", "reconcileRatio"],
      text: "it has more to compare than it can: even a canary has waited for two minutes",
    },
    {
      state: "overloaded",
      cause: "queue",
      persistMs: overloadMs + (newApplications / 5) * 1_000,
      clearMs: MINUTE_MS,
      holds: all(surely(isSettled), waiting, slow, not(above("operationUtilisation", 0.9)), not(slowGit)),
      evidence: ["waitingOver10", "queueDepth", "queueWaitS", "utilisation", "reconcileRatio", "canaryS"],
      text: "it has more to compare than it can: comparisons wait for their turn all the time",
    },
    {
      state: "overloaded",
      cause: "syncs",
      persistMs: 2 * overloadMs,
      clearMs: MINUTE_MS,
      holds: all(surely(isSettled), above("operationUtilisation", 0.9), above("operationWaitS", 30)),
      evidence: ["operationUtilisation", "operationWaitS"],
      text: "it has more to sync than it can: syncs wait for their turn all the time",
    },
    ...MEMORY.flatMap(memoryRules),
    {
      state: "degraded",
      cause: "disk",
      component: "repo-server",
      persistMs: 0,
      clearMs: MINUTE_MS,
      holds: below("repoServerEvictedS", KILLED_S),
      evidence: ["repoServerEvictedS", "repoServerEvictions"],
      text: "its repo-server was evicted for using more disk than it may: checkouts of repositories fill it",
    },
    {
      state: "degraded",
      cause: "node",
      persistMs: 0,
      clearMs: MINUTE_MS,
      holds: below("nodeEvictedS", KILLED_S),
      evidence: ["nodeEvictedS"],
      text: "its node ran short of disk or memory, or was shut down, and ended a part of it: no workspace here is to blame",
    },
    {
      state: "degraded",
      cause: "git",
      persistMs: 2 * MINUTE_MS,
      clearMs: MINUTE_MS,
      holds: slowGit,
      evidence: ["gitS", "gitSlowShare", "canaryS"],
      text: "Git answers slowly, whoever's repositories are asked",
    },
    {
      state: "degraded",
      cause: "comparisons",
      persistMs: 2 * MINUTE_MS,
      clearMs: MINUTE_MS,
      holds: any(above("canaryErrors", 1), ({ troubledUnits = 0, units = 0 }) => units >= 3 && troubledUnits > units / 2),
      evidence: ["canaryErrors", "troubledUnits", "units"],
      text: "what most workspaces, or its canaries, deploy cannot be compared",
    },
    {
      state: "degraded",
      cause: "slow",
      persistMs: 3 * MINUTE_MS,
      clearMs: 5 * MINUTE_MS,
      holds: all(surely(isSettled), any(above("canaryS", 2 * ease), above("reconcileRatio", 10 * ease), above("utilisation", 0.7 * ease))),
      evidence: ["canaryS", "reconcileRatio", "reconcileS", "utilisation", "queueWaitS"],
      text: "it works, slower than it did",
    },
  ];
}
