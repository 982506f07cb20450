import { beforeEach, describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { Freeze } from "../../domain/directive.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { type CronOptions, startCron } from "../../runtime/timer/cron.ts";
import { silentLog } from "../../telemetry/log.ts";
import { type FreezeWatch, watchFreezes } from "./watch-freezes.ts";

const HOUR_MS = 3_600_000;
// A Friday, 18:00.
const START = Date.parse("2026-11-20T18:00:00Z");
const WEEKEND: Freeze = { name: "weekend", schedule: "0 18 * * 5", durationMs: 62 * HOUR_MS, actor: "a", reason: "r", at: millis(0) };

describe("the watch over freezes", () => {
  let clock: VirtualClock;
  let abort: AbortController;
  let turns: number[];
  let timers: Map<string, CronOptions["run"]>;
  let watch: FreezeWatch;
  const watched = (startAt: number): FreezeWatch => {
    clock = createVirtualClock(startAt);
    const onChange = () => void turns.push(clock.now());
    const start: typeof startCron = ({ schedule, run, log }, signal) => {
      const trigger = startCron({ schedule, run, log }, signal);
      timers.set(schedule, run);
      signal.addEventListener("abort", () => timers.delete(schedule));
      return trigger;
    };
    return watchFreezes({ clock, log: silentLog, startCron: start, onChange }, abort.signal);
  };
  beforeEach(() => {
    abort = new AbortController();
    turns = [];
    timers = new Map();
    watch = watched(START);
    return () => abort.abort();
  });

  it("notifies of each beginning, and of the end that follows it", async () => {
    watch = watched(START - HOUR_MS);
    watch.follow([WEEKEND]);
    await clock.advance(HOUR_MS);
    expect(turns).toEqual([]);
    timers.get(`0 18 ${days(1, 31)} ${days(1, 12)} 5`)?.();
    expect(turns).toEqual([START]);
    await clock.advance(100 * HOUR_MS);
    expect(turns).toEqual([START, START + 62 * HOUR_MS]);
  });

  it("notifies once of the end of a freeze that had begun before, however often it is asked to follow that", async () => {
    const once: Freeze = { ...WEEKEND, name: "now", schedule: undefined, durationMs: HOUR_MS, at: millis(START - 1) };
    watch.follow([WEEKEND, once]);
    watch.follow([{ ...once }, { ...WEEKEND }]);
    expect(timers.size).toBe(1);
    await clock.advance(100 * HOUR_MS);
    expect(turns).toEqual([START - 1 + HOUR_MS, START + 62 * HOUR_MS]);
  });

  it("stops following freezes that were changed or removed, and all when the signal aborts", async () => {
    watch.follow([WEEKEND]);
    watch.follow([{ ...WEEKEND, schedule: "30 6 1 * 1", durationMs: HOUR_MS }]);
    expect([...timers.keys()]).toEqual([`30 6 1 ${days(1, 12)} *`, `30 6 * ${days(1, 12)} 1`]);
    watch.follow([]);
    expect(timers.size).toBe(0);
    watch.follow([WEEKEND]);
    abort.abort();
    expect(timers.size).toBe(0);
    await clock.advance(100 * HOUR_MS);
    expect(turns).toEqual([]);
  });

  it("does not fail on a day that no month has, or on an invalid schedule", () => {
    watch.follow(["0 0 31 2 *", "never"].map((schedule) => ({ ...WEEKEND, name: schedule, schedule })));
    expect(timers.size).toBe(0);
  });

  it("follows nothing if no timer is given", async () => {
    watchFreezes({ clock, log: silentLog, onChange: () => turns.push(0) }, abort.signal).follow([WEEKEND]);
    await clock.advance(100 * HOUR_MS);
    expect(turns).toEqual([]);
  });
});

function days(first: number, last: number): string {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index).join(",");
}
