import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { HealthSample, Signals, Verdict } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import { judge, nextVerdict, windowMs } from "./judge.ts";
import { endOf, goingOn, PERIOD_MS, RECORDED, RECORDED_SETTINGS, recorded } from "./testing/recorded.ts";

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

  it.each(["comfortable", "burst_create", "borderline_cpu", "slow_git_5s"])("never calls %s overloaded, stalled or failed on the way", (name) => {
    const samples = goingOn(recorded(name), EXPECTED[name as "comfortable"][0]);
    const said = new Set(samples.map(({ at }) => judgeAt(samples, at).state));
    expect([...said].filter((state) => ["overloaded", "stalled", "failed"].includes(state))).toEqual([]);
  });
});
