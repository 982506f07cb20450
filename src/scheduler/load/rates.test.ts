import { describe, expect, it } from "vitest";
import type { PageSums } from "./metrics-page.ts";
import { type PageAt, type PagesAt, ratesOf } from "./rates.ts";

const SUMS: PageSums = {
  ...{ startedAt: 5, cpuSeconds: 10, residentBytes: undefined, cachedObjects: 1 },
  requests: new Map([
    ["a", 100],
    ["b", 5],
  ]),
  ...{ reconcileSeconds: new Map([["https://a", 3]]), reconciliations: new Map([["https://a", 20]]) },
  ...{ gitRequests: new Map(), gitSeconds: new Map(), entryObjects: new Map(), entryApis: new Map() },
};
const LATER: PageSums = { ...SUMS, cpuSeconds: 13 };

const controller = (atMs: number, sums: PageSums | undefined): readonly [string, PageAt] => [
  "controller-0",
  { of: "controller", sums, atMs },
];
const repoServer = (pod: string, atMs: number, git: readonly [number, number] | undefined, startedAt = 7): readonly [string, PageAt] => {
  const [requests, seconds] = git ?? [0, 0];
  const sums = {
    ...SUMS,
    startedAt,
    gitRequests: new Map([["https://git/x", requests]]),
    gitSeconds: new Map([["https://git/x", seconds]]),
  };
  return [pod, { of: "repo-server", sums: git && sums, atMs }];
};
const observe = (...pages: readonly (readonly [string, PageAt])[]): PagesAt => new Map(pages);
const BEFORE = observe(controller(0, SUMS), repoServer("r-1", 0, [100, 5]), repoServer("r-2", 0, [10, 1]));

describe("two samples of one controller", () => {
  it("give CPU, calls and comparisons of the time between them", () => {
    const requests = new Map([
      ["a", 160],
      ["b", 5],
      ["c", 4],
    ]);
    const sums = { ...LATER, requests, reconcileSeconds: new Map([["https://a", 4.5]]), reconciliations: new Map([["https://a", 80]]) };
    expect(ratesOf(BEFORE, observe(controller(120_000, sums)))).toEqual({
      ...{
        milliCpu: 25,
        requestsPerMinute: { a: 30, b: 0, c: 2 },
        reconcileMs: { "https://a": 750 },
        reconciliations: { "https://a": 30 },
      },
    });
  });

  it.each([
    ["the first", undefined, controller(120_000, LATER)],
    ["a page that was not read", observe(controller(0, undefined)), controller(120_000, LATER)],
    ["another process", BEFORE, controller(120_000, { ...LATER, startedAt: 6 })],
    ["a process that does not say since when it runs", BEFORE, controller(120_000, { ...LATER, startedAt: undefined })],
    ["too near", BEFORE, controller(5_000, LATER)],
    ["too far apart", BEFORE, controller(3_600_000, LATER)],
    ["a CPU counter that went back", BEFORE, controller(120_000, { ...LATER, cpuSeconds: 9 })],
    ["a counter of calls that went back", BEFORE, controller(120_000, { ...LATER, requests: new Map([["a", 99]]) })],
    ["a time that went back", BEFORE, controller(120_000, { ...LATER, reconcileSeconds: new Map([["https://a", 2]]) })],
    ["no CPU", BEFORE, controller(120_000, { ...LATER, cpuSeconds: undefined })],
    ["a clock that went back", observe(controller(200_000, SUMS)), controller(120_000, LATER)],
    [
      "one counter of two that went back",
      BEFORE,
      controller(120_000, {
        ...LATER,
        requests: new Map([
          ["a", 99],
          ["b", 9],
        ]),
      }),
    ],
    [
      "processes that do not say since when they run",
      observe(controller(0, { ...SUMS, startedAt: undefined })),
      controller(120_000, { ...LATER, startedAt: undefined }),
    ],
    ["none", BEFORE, repoServer("r-1", 120_000, [200, 9])],
  ])("give nothing after %s", (_what, first, second) => expect(ratesOf(first, observe(second))).toBeUndefined());
});

describe("the time between two samples", () => {
  it.each([
    [9_999, false],
    [10_000, true],
    [1_800_000, true],
    [1_800_001, false],
  ])("of %i ms is enough and not too much: %s", (atMs, tells) => {
    expect(ratesOf(BEFORE, observe(controller(atMs, LATER))) !== undefined).toBe(tells);
  });

  it("is the difference, whenever the first was", () => {
    expect(ratesOf(observe(controller(60_000, SUMS)), observe(controller(180_000, LATER)))?.milliCpu).toBe(25);
  });

  it("gives nothing without CPU before, or with comparisons that went back", () => {
    expect(ratesOf(observe(controller(0, { ...SUMS, cpuSeconds: undefined })), observe(controller(120_000, LATER)))).toBeUndefined();
    const fewer = { ...LATER, reconciliations: new Map([["https://a", 19]]) };
    expect(ratesOf(BEFORE, observe(controller(120_000, fewer)))).toBeUndefined();
    expect(ratesOf(BEFORE, observe(controller(120_000, SUMS)))).toMatchObject({ milliCpu: 0, reconciliations: { "https://a": 0 } });
  });

  it("is the controller's, whatever other processes there are", () => {
    const rates = ratesOf(BEFORE, observe(repoServer("r-1", 60_000, [140, 5.5]), controller(120_000, LATER)));
    expect(rates).toMatchObject({ milliCpu: 25, git: { requests: { "https://git/x": 40 }, ms: { "https://git/x": expect.closeTo(500) } } });
  });
});

describe("two samples of repo-servers", () => {
  const gitOf = (...pages: readonly (readonly [string, PageAt])[]) => ratesOf(BEFORE, observe(controller(120_000, LATER), ...pages))?.git;

  it("give the requests of all together, and their time", () => {
    expect(gitOf(repoServer("r-1", 120_000, [140, 5.5]), repoServer("r-2", 120_000, [12, 1.1]))).toEqual({
      requests: { "https://git/x": 21 },
      ms: { "https://git/x": expect.closeTo(300) },
    });
  });

  it.each([
    ["there are none", []],
    ["one could not be read", [repoServer("r-1", 120_000, [140, 5.5]), repoServer("r-2", 120_000, undefined)]],
    ["one is another process", [repoServer("r-1", 120_000, [140, 5.5]), repoServer("r-2", 120_000, [12, 1.1], 8)]],
    ["one is new", [repoServer("r-1", 120_000, [140, 5.5]), repoServer("r-3", 120_000, [12, 1.1])]],
    ["a counter went back", [repoServer("r-1", 120_000, [99, 5.5]), repoServer("r-2", 120_000, [12, 1.1])]],
    ["a time went back", [repoServer("r-1", 120_000, [140, 4]), repoServer("r-2", 120_000, [12, 1.1])]],
  ])("give nothing, without harm to the other rates, if %s", (_what, pages) => {
    expect(ratesOf(BEFORE, observe(controller(120_000, LATER), ...pages))).toMatchObject({ milliCpu: 25, git: undefined });
  });
});
