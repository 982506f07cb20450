import { describe, expect, it, vi } from "vitest";
import { InputError } from "../../domain/errors.ts";
import { silentLog } from "../../telemetry/log.ts";
import { createSeededRng } from "../rng.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { startCron } from "./cron.ts";
import { every } from "./every.ts";

describe("every", () => {
  it("calls again and again, never more than the time apart and never much less", async () => {
    const clock = createVirtualClock();
    const times: number[] = [0];
    every(
      { clock, rng: createSeededRng(3), log: silentLog, ms: 1000, jitter: 0.25, run: () => void times.push(clock.monotonicMs()) },
      new AbortController().signal,
    );
    await clock.advance(100_000);
    expect(times.length).toBeGreaterThan(100);
    for (const [index, at] of times.slice(1).entries()) {
      const apart = at - (times[index] ?? 0);
      expect(apart).toBeGreaterThan(749);
      expect(apart).toBeLessThanOrEqual(1000);
    }
  });

  it("goes on after the function threw, and stops when the signal aborts", async () => {
    const clock = createVirtualClock();
    const abort = new AbortController();
    let calls = 0;
    const run = (): void => {
      calls += 1;
      if (calls === 3) abort.abort();
      throw new Error("no");
    };
    every({ clock, rng: createSeededRng(3), log: silentLog, ms: 1000, run }, abort.signal);
    await clock.advance(10_000);
    expect(calls).toBe(3);
    expect(clock.nextAt()).toBeUndefined();
    every({ clock, rng: createSeededRng(3), log: silentLog, ms: 1000, run }, abort.signal);
    expect(clock.nextAt()).toBeUndefined();
  });
});

describe("cron trigger", () => {
  it("calls at the times of its schedule until the signal aborts", async () => {
    const abort = new AbortController();
    let calls = 0;
    const run = (): void => {
      calls += 1;
      throw new Error("no");
    };
    const trigger = startCron({ schedule: "* * * * * *", run, log: silentLog }, abort.signal);
    await vi.waitFor(() => expect(calls).toBeGreaterThanOrEqual(2), { timeout: 20_000, interval: 50 });
    abort.abort();
    expect(trigger.nextAt()).toBeUndefined();
  });

  it("knows when it calls next, in its time zone", () => {
    const abort = new AbortController();
    const trigger = startCron({ schedule: "30 4 * * *", timezone: "Asia/Tokyo", run: () => {}, log: silentLog }, abort.signal);
    expect(new Date(trigger.nextAt() ?? 0).toISOString()).toMatch(/T19:30:00\.000Z$/);
    abort.abort();
    expect(startCron({ schedule: "30 4 * * *", run: () => {}, log: silentLog }, abort.signal).nextAt()).toBeUndefined();
  });

  it.each([
    ["every tuesday", "UTC", "schedule"],
    ["61 * * * *", "UTC", "schedule"],
    ["0 3 * * 1", "Moon/Crater", "timezone"],
  ])("refuses schedule %j in %s", (schedule, timezone, path) => {
    const start = (): unknown => startCron({ schedule, timezone, run: () => {}, log: silentLog }, new AbortController().signal);
    expect(start).toThrow(InputError);
    expect(start).toThrow(expect.objectContaining({ path }));
  });
});
