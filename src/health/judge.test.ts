import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { HealthCause, HealthSample, InstanceVerdict, Signals, Verdict } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { isAtRest, judgeHealth, nextVerdict, windowMs } from "./judge.ts";
import { endOf, goingOn, PERIOD_MS, type RECORDED, RECORDED_SETTINGS, recorded } from "./testing/recorded.ts";

const TEN_MINUTES = 600_000;
/**
 * For each recorded state: for how long it is continued, and the verdicts expected then. The burst and the recoveries
 * end by themselves.
 */
const EXPECTED: Readonly<Record<(typeof RECORDED)[number], readonly [lastsMs: number, verdicts: readonly string[]]>> = {
  comfortable: [TEN_MINUTES, ["healthy none"]],
  burst_create: [0, ["healthy none", "degraded slow"]],
  borderline_cpu: [TEN_MINUTES, ["degraded slow", "healthy none"]],
  overload_cpu: [TEN_MINUTES, ["overloaded queue"]],
  overload_cpu_hard: [TEN_MINUTES, ["overloaded queue"]],
  overload_procs: [TEN_MINUTES, ["degraded slow"]],
  slow_git_5s: [TEN_MINUTES, ["degraded git"]],
  stuck_ctl_sigstop: [0, ["stalled controller-stopped"]],
  stuck_repo_sigstop: [0, ["stalled repo-server"]],
  stuck_redis_down: [0, ["stalled redis"]],
  after_overload_cpu: [TEN_MINUTES, ["healthy none"]],
  after_redis_back: [TEN_MINUTES, ["healthy none"]],
};

const judgeAt = (samples: readonly HealthSample[], now = endOf(samples)): Verdict =>
  judgeHealth({ now, samples: samples.filter(({ at }) => at <= now), periodMs: PERIOD_MS, settings: RECORDED_SETTINGS });
const wordsOf = ({ state, cause }: Verdict): string => `${state} ${cause}`;

describe("a verdict on a recorded instance", () => {
  it.each(Object.entries(EXPECTED))("of %s", (name, [lastsMs, verdicts]) => {
    const samples = goingOn(recorded(name), lastsMs);
    expect(verdicts).toContain(wordsOf(judgeAt(samples)));
  });

  it.each(["comfortable", "burst_create", "borderline_cpu", "slow_git_5s"])(
    "never calls %s overloaded, stalled or failed on the way",
    (name) => {
      const samples = goingOn(recorded(name), EXPECTED[name as "comfortable"][0]);
      const said = new Set(samples.map(({ at }) => judgeAt(samples, at).state));
      expect([...said].filter((state) => ["overloaded", "stalled", "failed"].includes(state))).toEqual([]);
    },
  );
});

/** A sample every fifteen seconds, all the same, for so many minutes. */
const steadily = (signals: Signals, minutes: number): readonly HealthSample[] =>
  Array.from({ length: minutes * 4 + 1 }, (_, index) => ({ at: millis(index * 15_000), signals }));
const WITHOUT_CANARIES: Signals = {
  ...{ controllerAnswers: 1, repoServerAnswers: 1, uptimeS: 9_000, queueDepth: 0, reconcilesPerS: 2, redisPerReconcile: 1 },
};
const GOOD: Signals = { ...WITHOUT_CANARIES, canaryS: 0.2 };
const of = (signals: Signals, minutes = 5, over: Partial<Parameters<typeof judgeHealth>[0]> = {}): Verdict => {
  const samples = steadily(signals, minutes);
  return judgeHealth({ now: endOf(samples), samples, periodMs: 15_000, settings: RECORDED_SETTINGS, ...over });
};

describe("a verdict", () => {
  it.each<readonly [string, Signals, number]>([
    ["healthy none", GOOD, 5],
    ["healthy starting", { ...GOOD, uptimeS: 60 }, 1],
    ["healthy starting", { ...GOOD, isChanging: 1 }, 1],
    ["healthy starting", { ...GOOD, uptimeS: 60, utilisation: 1, canaryS: 9, queueDepth: 500, waitingOver10: 1 }, 20],
    ["healthy workspace", { ...GOOD, units: 9, troubledUnits: 1 }, 20],
    ["degraded comparisons", { ...GOOD, units: 3, troubledUnits: 2 }, 5],
    ["healthy workspace", { ...GOOD, units: 2, troubledUnits: 2 }, 5],
    ["degraded comparisons", { ...GOOD, canaryErrors: 2 }, 5],
    ["degraded slow", { ...GOOD, canaryS: 3 }, 5],
    ["healthy none", { ...GOOD, gitS: 5, gitSlowShare: 0.5 }, 5],
    ["degraded git", { ...GOOD, gitS: 5, gitSlowShare: 1 }, 5],
    ["overloaded syncs", { ...GOOD, operationUtilisation: 1, operationWaitS: 60 }, 12],
    ["healthy none", { ...GOOD, operationUtilisation: 1, operationWaitS: 60 }, 8],
    ["overloaded queue", { ...GOOD, canaryS: 130, queueDepth: 9, utilisation: 0.9 }, 1],
    ["stalled queue-stuck", { ...GOOD, canaryS: 130, reconcilesPerS: 0 }, 1],
    ["stalled controller-stopped", { controllerAnswers: 0, canaryS: 40 }, 1],
    ["stalled controller-stopped", { controllerAnswers: 0, newestAgeS: 300, sampledApplications: 2 }, 1],
    ["unknown no-metrics", { controllerAnswers: 0, canaryS: 0.2 }, 2],
    ["unknown no-metrics", {}, 2],
    ["healthy none", { canaryS: 0.2 }, 2],
    ["stalled periodic-refreshes", { ...GOOD, passiveAgeS: 300 }, 2],
    ["stalled periodic-refreshes", { ...GOOD, newestAgeS: 145, sampledApplications: 20 }, 2],
    ["stalled periodic-refreshes", { ...GOOD, newestAgeS: 500, sampledApplications: 20, passiveAgeS: 145 }, 2],
    ["healthy none", { ...GOOD, newestAgeS: 50_000, sampledApplications: 25, passiveAgeS: 100 }, 20],
    ["unknown no-metrics", { controllerAnswers: 0, newestAgeS: 50_000, sampledApplications: 25, passiveAgeS: 100, canaryS: 0.2 }, 2],
    ["healthy none", { ...GOOD, newestAgeS: 145, sampledApplications: 19 }, 2],
    ["failed not-ready", { ...GOOD, unreadyS: 301 }, 1],
    ["degraded memory", { ...GOOD, controllerMemory: 0.96 }, 7],
    ["healthy none", { ...GOOD, controllerMemory: 0.96 }, 4],
    ["healthy none", { ...GOOD, controllerMemory: 0.95, repoServerMemory: 0.9 }, 20],
    ["degraded memory", { ...GOOD, repoServerMemory: 1.1 }, 7],
    ["degraded memory", { ...GOOD, redisKilledS: 599 }, 0],
    ["healthy none", { ...GOOD, redisKilledS: 600 }, 0],
    ["degraded memory", { ...GOOD, controllerKilledS: 1, canaryS: 3 }, 5],
    ["overloaded queue", { ...GOOD, controllerMemory: 0.99, canaryS: 130, queueDepth: 9, utilisation: 0.9 }, 10],
    ["stalled redis", { ...GOOD, redisFailuresPerS: 0.1 }, 2],
    ["healthy none", { ...GOOD, redisPerReconcile: 0.1, reconcileOver16: 0.1, repoServerAnswers: 0.5 }, 0],
    ["stalled repo-server", { ...GOOD, repoServerAnswers: 0, canaryS: 22, redisPerReconcile: 0.1 }, 2],
    ["stalled repo-server", { ...GOOD, repoServerAnswers: 0, canaryErrors: 1 }, 2],
    ["healthy none", { ...GOOD, repoServerAnswers: 0 }, 5],
    ["stalled repo-server", { ...WITHOUT_CANARIES, repoServerAnswers: 0 }, 2],
    ["stalled repo-server", { ...WITHOUT_CANARIES, repoServerAnswers: 0, reconcileS: 0.02, units: 9, troubledUnits: 9 }, 2],
    ["healthy none", { ...WITHOUT_CANARIES, repoServerAnswers: 0, reconcileS: 0.02, units: 9, troubledUnits: 0 }, 2],
    ["stalled repo-server", { ...GOOD, reconcileOver16: 1, redisPerReconcile: 0.1 }, 2],
    ["stalled repo-server", { ...GOOD, reconcileOver16: 0.5, redisPerReconcile: 0.6, canaryErrors: 1 }, 2],
    ["overloaded queue", { ...GOOD, reconcileOver16: 0.5, redisPerReconcile: 1.1, canaryS: 60, queueDepth: 20, utilisation: 1 }, 6],
  ])("is %s of %j for %i minutes", (expected, signals, minutes) => expect(wordsOf(of(signals, minutes))).toBe(expected));

  it("is unknown, never healthy, without a recent sample", () => {
    const settings = RECORDED_SETTINGS;
    expect(wordsOf(judgeHealth({ now: millis(0), samples: [], periodMs: 15_000, settings }))).toBe("unknown no-samples");
    expect(wordsOf(of(GOOD, 5, { now: millis(5 * 60_000 + 61_000) }))).toBe("unknown no-samples");
  });

  it("is failed for a component that restarts again and again, but not for one that is replaced", () => {
    const counting = (counts: readonly number[]): Verdict => {
      const samples = counts.map((count, index) => ({ at: millis(index * 15_000), signals: { ...GOOD, redisRestarts: count } }));
      return judgeHealth({ now: endOf(samples), samples, periodMs: 15_000, settings: RECORDED_SETTINGS });
    };
    expect(counting([1, 2, 3, 4])).toMatchObject({ state: "failed", cause: "restarts", component: "redis" });
    expect(counting([5, 6, 0, 1]).state).toBe("healthy");
  });

  it("is failed where a component was killed for using too much memory twice, degraded where it was once", () => {
    const counting = (counts: readonly number[], killedS: number): Verdict => {
      const signals = (count: number) => ({ ...GOOD, controllerRestarts: count, controllerKilledS: killedS });
      const samples = counts.map((count, index) => ({ at: millis(index * 15_000), signals: signals(count) }));
      return judgeHealth({ now: endOf(samples), samples, periodMs: 15_000, settings: RECORDED_SETTINGS });
    };
    expect(counting([0, 1, 2], 5)).toMatchObject({ state: "failed", cause: "memory", component: "controller" });
    expect(counting([0, 1, 1], 5)).toMatchObject({ state: "degraded", cause: "memory", component: "controller" });
    expect(counting([0, 1, 2], 600)).toMatchObject({ state: "healthy" });
  });

  it("is failed where repo-servers were evicted twice within an hour, degraded where one was, each for ten minutes", () => {
    const evicted = (repoServerEvictions: number, repoServerEvictedS: number): Verdict =>
      of({ ...GOOD, repoServerEvictions, repoServerEvictedS }, 1);
    expect(evicted(2, 5)).toMatchObject({ state: "failed", cause: "disk", component: "repo-server" });
    expect(evicted(2, 5).text).toBe("its repo-server was evicted 2 times within an hour: it uses more disk than it may");
    expect(evicted(1, 5)).toMatchObject({ state: "degraded", cause: "disk", component: "repo-server" });
    expect(evicted(2, 600)).toMatchObject({ state: "healthy", cause: "none" });
    expect(of({ ...GOOD, nodeEvictedS: 5 }, 1)).toMatchObject({ state: "degraded", cause: "node", component: undefined });
  });

  it("waits one second longer for every five new applications", () => {
    const burst = (before: number) => {
      const hot = { ...GOOD, queueDepth: 500, canaryS: 20, utilisation: 0.5 };
      const samples = steadily(hot, 6).map(({ at, signals }, index) => ({
        at,
        signals: { ...signals, applications: index === 0 ? before : 1_000 },
      }));
      return judgeHealth({ now: endOf(samples), samples, periodMs: 15_000, settings: RECORDED_SETTINGS }).state;
    };
    expect([burst(1_000), burst(0)]).toEqual(["overloaded", "degraded"]);
  });

  it.each([5_000, 8_500, 9_500, 11_000, 14_000])(
    "is made in time from probes that take %i ms, whatever the time between them",
    (everyMs) => {
      const samples = Array.from({ length: 12 }, (_, index) => ({
        at: millis(index * everyMs),
        signals: index < 3 ? GOOD : { controllerAnswers: 0, canaryS: 8 },
      }));
      const said = samples.filter(({ at }) => {
        const known = samples.filter((each) => each.at <= at);
        return judgeHealth({ now: at, samples: known, periodMs: 5_000, settings: RECORDED_SETTINGS }).state === "stalled";
      });
      const [first = Number.NaN, began] = [said[0]?.at, 3 * everyMs];
      expect(first - began).toBeGreaterThanOrEqual(20_000);
      expect(first - began).toBeLessThanOrEqual(25_000 + everyMs);
      expect(said).toHaveLength(samples.filter(({ at }) => at >= first).length);
    },
  );

  it("carries its evidence: the last known value of each signal", () => {
    const { evidence, text } = of({ ...GOOD, passiveAgeS: 300 }, 2);
    expect(evidence).toContainEqual({ signal: "passiveAgeS", value: 300 });
    expect(evidence).toContainEqual({ signal: "newestAgeS", value: undefined });
    expect(text).not.toBe("");
  });

  it("keeps the time at which it began while it stays the same", () => {
    const verdict = of(GOOD, 1);
    const at = (ms: number) => ({ instanceId: "i" as InstanceId, at: millis(ms), baseline: undefined });
    const first = nextVerdict(undefined, verdict, at(5));
    expect(nextVerdict(first, verdict, at(9))).toMatchObject({ since: 5, at: 9 });
    expect(nextVerdict(first, { ...verdict, cause: "workspace" }, at(9))).toMatchObject({ since: 9 });
  });
});

const DAY_MS = 86_400_000;

/**
 * An instance that is busy by day, three quarters at most, and idle by night. It has what healthy instances have now
 * and then: a single odd sample, a canary that the controller missed, a burst that is over after two minutes, a push
 * to everything, a slow quarter of an hour.
 */
function* days(count: number, periodMs: number): Generator<HealthSample> {
  const rng = createSeededRng("thirty days");
  let burstUntil = 0;
  for (let at = 0; at < count * DAY_MS; at += periodMs) {
    const busy = 0.4 + 0.35 * Math.sin((2 * Math.PI * at) / DAY_MS);
    const noise = Math.exp(0.35 * (rng.next() + rng.next() + rng.next() - 1.5));
    if (rng.next() < (6 * periodMs) / DAY_MS) burstUntil = at + 120_000;
    const isBurst = at < burstUntil;
    const isOdd = rng.next() < 0.02;
    const waiting = isBurst ? 0.6 + 0.4 * rng.next() : isOdd ? rng.next() : Math.max(0, busy * noise - 0.9);
    const signals: Signals = {
      ...{
        controllerAnswers: rng.next() < 0.003 ? 0 : 1,
        repoServerAnswers: rng.next() < 0.003 ? 0 : 1,
        uptimeS: 86_400,
        applications: 700,
      },
      ...{
        waitingOver10: waiting,
        queueDepth: isBurst ? 400 : Math.floor(busy * noise * 3 * rng.next()),
        operationUtilisation: busy * 0.5,
      },
      ...{ utilisation: Math.min(1, (isBurst ? 2 : 1) * busy * noise), reconcileS: 0.02 * noise, reconcileRatio: noise * (isOdd ? 25 : 1) },
      ...{
        canaryS: isBurst ? 20 : isOdd ? 8 : 0.12 * noise,
        passiveAgeS: 180 * rng.next(),
        newestAgeS: 60 * rng.next(),
        sampledApplications: 25,
      },
      ...{ redisPerReconcile: 0.8 + noise, redisFailuresPerS: 0, gitS: 0.02 * noise, gitSlowShare: isOdd ? 0.3 : 0, reconcilesPerS: 8 },
    };
    yield { at: millis(at), signals };
  }
}

describe("thirty days of an instance that is busy by day", () => {
  it.each([
    [60_000, 30],
    [15_000, 2],
  ])(
    "with a probe every %i ms have at most one false alarm, and verdicts that do not flap",
    (periodMs, count) => {
      const settings = { ...RECORDED_SETTINGS, resyncS: 120, jitterS: 60 };
      let [samples, said, before]: [HealthSample[], string[], HealthCause | undefined] = [[], [], undefined];
      for (const sample of days(count, periodMs)) {
        samples = [...samples.filter(({ at }) => sample.at - at <= windowMs(settings)), sample];
        const { state, cause } = judgeHealth({ now: sample.at, samples, periodMs, settings, before });
        before = cause;
        if (said.at(-1) !== state) said = [...said, state];
      }
      expect(said.filter((state) => state === "overloaded").length).toBeLessThanOrEqual(1);
      expect(said.filter((state) => ["stalled", "failed", "unknown"].includes(state))).toEqual([]);
      // By day it may be called slow once, and once more in a burst.
      expect(said.length).toBeLessThanOrEqual(4 * count + 1);
    },
    180_000,
  );
});

describe("an instance is at rest", () => {
  const now = millis(3_600_000);
  const isResting = (signals: Signals, over: Partial<InstanceVerdict> = {}): boolean => {
    const verdict: InstanceVerdict = {
      ...{ instanceId: "i" as InstanceId, at: now, since: millis(now - 300_000), baseline: undefined },
      ...{ state: "healthy", cause: "none", component: undefined, text: "", evidence: [], ...over },
    };
    return isAtRest({ now, samples: [{ at: now, signals }], settings: RECORDED_SETTINGS }, verdict);
  };

  it("once it has been well for five minutes", () => {
    expect(isResting(GOOD)).toBe(true);
    expect(isResting(WITHOUT_CANARIES)).toBe(true);
    expect(isResting(GOOD, { since: millis(now - 299_000) })).toBe(false);
  });

  it.each<readonly [boolean, Pick<InstanceVerdict, "state" | "cause">]>([
    // That one's applications are compared again and again like any others.
    [true, { state: "healthy", cause: "workspace" }],
    [false, { state: "healthy", cause: "starting" }],
    [false, { state: "degraded", cause: "slow" }],
    [false, { state: "unknown", cause: "no-metrics" }],
  ])("%s, while its verdict is %o", (isIt, verdict) => {
    expect(isResting(GOOD, verdict)).toBe(isIt);
  });

  it.each<readonly [string, Signals]>([
    ["its controller was not read", { canaryS: 0.2 }],
    ["its controller hangs", { ...GOOD, controllerAnswers: 0 }],
    ["a canary waited", { ...GOOD, canaryS: 3 }],
    ["a repo-server was killed for its memory", { ...GOOD, repoServerKilledS: 30 }],
    ["redis failed", { ...GOOD, redisFailuresPerS: 0.1 }],
    ["comparisons wait", { ...GOOD, waitingOver10: 0.6, reconcileRatio: 21 }],
  ])("but not when the newest sample shows that %s", (_, signals) => {
    expect(isResting(signals)).toBe(false);
  });
});
