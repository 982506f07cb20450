import { describe, expect, it } from "vitest";
import { deriveSignals, keptProbes, known, type ProbeResult } from "./derive-signals.ts";
import type { HealthPage } from "./parse-page.ts";
import { aHealthPage } from "./testing/stage.ts";

const WORKERS = { statusProcessors: 20, operationProcessors: 10 };
type Counters = HealthPage["counters"];

const probe = (seconds: number, counters: Counters | undefined, over: Partial<ProbeResult> = {}): ProbeResult => ({
  ...{ atMs: seconds * 1_000, wallS: 1_000 + seconds, controllerAnswers: counters !== undefined, repoServers: new Map() },
  controller: counters && aHealthPage({ counters: { startedAt: 400, ...counters } }),
  ...over,
});
const repo = (git: Readonly<Record<string, readonly [number, number]>>, startedAt = 5): HealthPage =>
  aHealthPage({
    counters: { startedAt },
    git: new Map(Object.entries(git).map(([name, [requests, seconds]]) => [name, { requests, seconds }])),
  });
const pods = (pages: Readonly<Record<string, HealthPage | undefined>>) => ({ repoServers: new Map(Object.entries(pages)) });

describe("signals", () => {
  it("are rates and means of the last minute", () => {
    const before = { reconciles: 100, reconcileS: 10, reconcilesWithin16: 90, waits: 50, waitS: 5, waitsWithin10: 40, redisRequests: 10 };
    const after = {
      reconciles: 220,
      reconcileS: 130,
      reconcilesWithin16: 180,
      waits: 70,
      waitS: 65,
      waitsWithin10: 55,
      redisRequests: 40,
      depth: 3,
      applications: 9,
    };
    expect(deriveSignals([probe(0, before)], probe(60, after), WORKERS)).toEqual({
      ...{ controllerAnswers: 1, uptimeS: 660, queueDepth: 3, applications: 9, reconcilesPerS: 2, reconcileS: 1, reconcileOver16: 0.25 },
      ...{ utilisation: 0.1, queueWaitS: 3, waitingOver10: 0.25, redisPerReconcile: 0.25, redisFailuresPerS: 0 },
    });
  });

  it("show how busy the workers for syncs are", () => {
    const signals = deriveSignals(
      [probe(0, { operationWorkS: 0, operationWaits: 0, operationWaitS: 0 })],
      probe(60, { operationWorkS: 540, operationWaits: 4, operationWaitS: 200 }),
      WORKERS,
    );
    expect(signals).toMatchObject({ operationUtilisation: 0.9, operationWaitS: 50 });
  });

  it("show failures of redis while they happen, not for a minute after", () => {
    const failing = (at: number, redisFailed: number) => probe(at, { reconciles: at, redisFailed });
    const observations = [failing(0, 0), failing(15, 6), failing(30, 6), failing(45, 6)];
    const failures = [1, 2, 3].map(
      (index) => deriveSignals(observations.slice(0, index), observations[index] as ProbeResult, WORKERS).redisFailuresPerS,
    );
    expect(failures).toEqual([0.4, 0.2, 0]);
  });

  it.each<readonly [string, Counters, Counters]>([
    ["restarted", { startedAt: 1, reconciles: 1 }, { startedAt: 2, reconciles: 5 }],
    ["has a counter that went back", { reconciles: 10 }, { reconciles: 5 }],
    ["gives no such counter", {}, {}],
  ])("have no rates of a controller that %s", (_what, before, after) => {
    expect(deriveSignals([probe(0, before)], probe(60, after), WORKERS).reconcilesPerS).toBeUndefined();
  });

  it("have no redis requests per comparison where there were too few comparisons", () => {
    const of = (reconciles: number) =>
      deriveSignals([probe(0, { reconciles: 0, redisRequests: 0 })], probe(60, { reconciles, redisRequests: 0 }), WORKERS);
    expect([of(2).redisPerReconcile, of(3).redisPerReconcile]).toEqual([undefined, 0]);
  });

  it("distinguish a process that did not answer from one that could not be asked", () => {
    expect(deriveSignals([], probe(0, undefined), WORKERS)).toEqual({ controllerAnswers: 0 });
    expect(deriveSignals([], probe(0, undefined, { controllerAnswers: undefined }), WORKERS)).toEqual({});
    const half = probe(0, undefined, { controllerAnswers: undefined, ...pods({ a: repo({}), b: undefined }) });
    expect(deriveSignals([], half, WORKERS)).toEqual({ repoServerAnswers: 0.5 });
  });

  it("show how long Git took, and for which share of the repositories it was slow", () => {
    const before = probe(0, {}, pods({ a: repo({ x: [1, 9], idle: [4, 40] }), anew: repo({ x: [1, 1] }) }));
    const after = probe(60, {}, pods({ a: repo({ x: [3, 13], y: [2, 0.1], idle: [4, 40] }), anew: repo({ x: [9, 99] }, 6) }));
    const { gitS, gitSlowShare } = deriveSignals([before], after, WORKERS);
    expect([gitS, gitSlowShare]).toEqual([4.1 / 4, 0.5]);
  });

  it("rest on the probes of the last minute and the one before, not on one that was only just made", () => {
    const observations = [0, 30, 60, 90].map((at) => probe(at, { reconciles: at * 10 }));
    expect(keptProbes(observations, probe(120, {})).map(({ atMs }) => atMs / 1_000)).toEqual([60, 90, 120]);
    expect(deriveSignals([probe(119, { reconciles: 0 })], probe(120, { reconciles: 9 }), WORKERS).reconcilesPerS).toBeUndefined();
  });

  it("are numbers, or absent", () => {
    expect(known({ canaryS: Number.NaN, gitS: Number.POSITIVE_INFINITY, queueDepth: undefined, units: 0 })).toEqual({ units: 0 });
  });
});
