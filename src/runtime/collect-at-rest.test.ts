import { beforeEach, describe, expect, it, vi } from "vitest";
import { silentLog } from "../telemetry/log.ts";
import { collectAtRest, processMemory } from "./collect-at-rest.ts";
import { createSeededRng } from "./rng.ts";
import { createVirtualClock, type VirtualClock } from "./testing/virtual-clock.ts";

const MIB = 1024 * 1024;
const MINUTE_MS = 60_000;
const [IDLE, BUSY] = [0.01, 1.5];

describe("a process at rest", () => {
  let clock: VirtualClock;
  let held: { cpuMs: number; heapBytes: number };
  const collect = vi.fn();
  const ending = () => new AbortController();

  beforeEach(() => {
    clock = createVirtualClock();
    held = { cpuMs: 5_000, heapBytes: 100 * MIB };
    collect.mockReset().mockImplementation(() => {
      held.heapBytes = 60 * MIB;
    });
  });

  const begin = (signal = ending().signal): void => {
    const memory = { cpuMs: () => held.cpuMs, heapBytes: () => held.heapBytes, collect };
    collectAtRest({ memory, clock, rng: createSeededRng(1), log: silentLog }, signal);
  };
  /** A minute in which it computes with so many cores. */
  const minute = async (cores: number): Promise<void> => {
    for (let s = 0; s < 60; s += 1) {
      held.cpuMs += cores * 1_000;
      await clock.advance(1_000);
    }
  };

  it("collects what its start has left, and what has become garbage since after 1, 2, 4, 8 … checks", async () => {
    begin();
    const at: number[] = [];
    collect.mockImplementation(() => {
      at.push(clock.monotonicMs());
      held.heapBytes = 60 * MIB;
      queueMicrotask(() => {
        held.heapBytes = 100 * MIB;
      });
    });
    for (let each = 0; each < 20; each += 1) await minute(IDLE);
    const checks = at.map((ms) => Math.round(ms / 27_000));
    expect(checks).toEqual([1, 2, 4, 8, 16, 32]);
  });

  it("collects nothing while it has much to do, and then what that has left", async () => {
    begin();
    for (let each = 0; each < 5; each += 1) await minute(BUSY);
    expect(collect).not.toHaveBeenCalled();
    await minute(IDLE);
    expect(collect).toHaveBeenCalledOnce();
  });

  it("begins anew when it has had much to do", async () => {
    begin();
    for (let each = 0; each < 5; each += 1) await minute(IDLE);
    await minute(BUSY);
    collect.mockClear();
    held.heapBytes = 100 * MIB;
    await minute(IDLE);
    expect(collect).toHaveBeenCalledOnce();
  });

  it.each([
    [64, 1],
    [67, 2],
  ])("collects again when its heap takes %i MiB and not 60: so often in all: %i", async (heapMib, times) => {
    begin();
    await clock.advance(31_000);
    held.heapBytes = heapMib * MIB;
    for (let each = 0; each < 5; each += 1) await minute(IDLE);
    expect(collect).toHaveBeenCalledTimes(times);
  });

  it("collects nothing any more when it has ended", async () => {
    const controller = ending();
    begin(controller.signal);
    controller.abort();
    await clock.advance(10 * MINUTE_MS);
    expect(collect).not.toHaveBeenCalled();
  });

  it("leaves it to V8 where nobody may ask for a collection", async () => {
    expect(processMemory(undefined)).toBeUndefined();
    collectAtRest({ memory: undefined, clock, rng: createSeededRng(1), log: silentLog }, ending().signal);
    expect(clock.nextAt()).toBeUndefined();
  });

  it("is measured by the time that it computed, and by what its heap takes", () => {
    const memory = processMemory(collect as never);
    expect(memory?.cpuMs()).toBeGreaterThan(10);
    expect(memory?.cpuMs()).toBeLessThan(performance.now() * 1_000);
    expect(memory?.heapBytes()).toBeGreaterThan(MIB);
    memory?.collect();
    expect(collect).toHaveBeenCalledOnce();
  });
});
