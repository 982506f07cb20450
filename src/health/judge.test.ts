import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { HealthCause, HealthSample, Signals, Verdict } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { judge, nextVerdict, windowMs } from "./judge.ts";
import { endOf, goingOn, PERIOD_MS, type RECORDED, RECORDED_SETTINGS, recorded } from "./testing/recorded.ts";

const TEN_MINUTES = 600_000;
/** What is recorded of each state, how long it is taken to go on, and what is to be said of it then. The burst and the recoveries end by themselves. */
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
  judge({ now, samples: samples.filter(({ at }) => at <= now), periodMs: PERIOD_MS, settings: RECORDED_SETTINGS });
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

const DAY_MS = 86_400_000;

/**
 * An instance that is busy by day and idle by night, at most three quarters busy, with what healthy ones have now and then: odd looks, canaries that are
 * overlooked, bursts that are over after two minutes, pushes to everything, a slow quarter of an hour.
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
    "with a look each %i ms have one false alarm at most, and verdicts that do not come and go",
    (periodMs, count) => {
      const settings = { ...RECORDED_SETTINGS, resyncS: 120, jitterS: 60 };
      let [samples, said, before]: [HealthSample[], string[], HealthCause | undefined] = [[], [], undefined];
      for (const sample of days(count, periodMs)) {
        samples = [...samples.filter(({ at }) => sample.at - at <= windowMs(settings)), sample];
        const { state, cause } = judge({ now: sample.at, samples, periodMs, settings, before });
        before = cause;
        if (said.at(-1) !== state) said = [...said, state];
      }
      expect(said.filter((state) => state === "overloaded").length).toBeLessThanOrEqual(1);
      expect(said.filter((state) => ["stalled", "failed", "unknown"].includes(state))).toEqual([]);
      // Busy by day: it may be called slow once each day, and in a burst.
      expect(said.length).toBeLessThanOrEqual(4 * count);
    },
    60_000,
  );
});
