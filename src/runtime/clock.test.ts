import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { sleep, systemClock } from "./clock.ts";
import { createVirtualClock } from "./testing/virtual-clock.ts";

const never = new AbortController().signal;

describe("system clock", () => {
  it("shows the machine's time, and durations that only grow", () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1000);
    const before = systemClock.monotonicMs();
    expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(before);
  });

  it("calls once after the delay, not when cancelled, and takes cancelling late", async () => {
    const calls: string[] = [];
    const cancelled = systemClock.after(1, () => calls.push("cancelled"));
    cancelled();
    await new Promise<void>((resolve) => {
      const cancel = systemClock.after(5, () => {
        calls.push("called");
        cancel();
        resolve();
      });
    });
    cancelled();
    expect(calls).toEqual(["called"]);
  });

  it("does not call at once when the delay is longer than a timer can be", async () => {
    let called = false;
    const cancel = systemClock.after(2 ** 33, () => (called = true));
    // Timers run in the order they are due: what was armed later for an earlier time has run when this is over.
    await new Promise<void>((resolve) => void systemClock.after(1, resolve));
    cancel();
    expect(called).toBe(false);
  });
});

describe("sleep", () => {
  it("ends after the time", async () => {
    const clock = createVirtualClock();
    let isAwake = false;
    void sleep(clock, 100, never).then(() => (isAwake = true));
    await clock.advance(99);
    expect(isAwake).toBe(false);
    await clock.advance(1);
    expect(isAwake).toBe(true);
    expect(getEventListeners(never, "abort")).toEqual([]);
  });

  it("ends with the signal's reason and leaves no timer behind", async () => {
    const clock = createVirtualClock();
    const abort = new AbortController();
    const sleeping = sleep(clock, 100, abort.signal);
    abort.abort(new Error("enough"));
    await expect(sleeping).rejects.toThrow("enough");
    await expect(sleep(clock, 100, abort.signal)).rejects.toThrow("enough");
    expect(clock.nextAt()).toBeUndefined();
  });
});

describe("virtual clock", () => {
  it("runs what is due in order of time, then of asking", async () => {
    const clock = createVirtualClock(1000);
    const calls: string[] = [];
    clock.after(20, () => calls.push(`b at ${clock.now()}`));
    clock.after(10, () => calls.push(`a at ${clock.now()}`));
    clock.after(20, () => calls.push(`c at ${clock.now()}`));
    const cancel = clock.after(15, () => calls.push("never"));
    cancel();
    expect(clock.nextAt()).toBe(1010);
    await clock.advance(25);
    expect(calls).toEqual(["a at 1010", "b at 1020", "c at 1020"]);
    expect([clock.now(), clock.monotonicMs()]).toEqual([1025, 25]);
  });

  it("runs in the same call what is asked for on the way", async () => {
    const clock = createVirtualClock();
    const times: number[] = [];
    const loop = async (): Promise<void> => {
      for (let turn = 0; turn < 5; turn += 1) {
        await sleep(clock, 10, never);
        times.push(clock.monotonicMs());
      }
    };
    void loop();
    await clock.advance(1000);
    expect(times).toEqual([10, 20, 30, 40, 50]);
  });
});
