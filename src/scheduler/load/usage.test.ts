import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../../domain/clock.ts";
import { CONTROLLER_COST_MIB } from "../../domain/controller-memory.ts";
import type { EnvironmentId, UnitId } from "../../domain/ids.ts";
import { addUsage, NO_USAGE, USAGE_DIMENSIONS, type Usage, type UsageMark } from "../../domain/usage.ts";
import { NOON } from "../testing/snapshots.ts";
import type { InstanceSignals, UnitSignals } from "./attribute-load.ts";
import { attributeUsage, type UsageQuestion } from "./attribute-usage.ts";
import { FIRST_WEIGHTS } from "./cpu-weights.ts";
import type { PageSums } from "./metrics-page.ts";
import type { PageAt, PagesAt } from "./rates.ts";
import { type Taken, usageSince } from "./usage-since.ts";

/** All that was taken. */
const wholeUsage = (taken: readonly Taken[]): Usage =>
  taken
    .map(({ of, cpuMs, memoryKibS }) => ({ ...NO_USAGE, memoryKibS, [of === "controller" ? "controllerCpuMs" : "repoServerCpuMs"]: cpuMs }))
    .reduce<Usage>(addUsage, NO_USAGE);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MIB = 1_048_576;

describe("what an instance's processes took", () => {
  const began = NOON - 24 * HOUR;
  const page = (cpuSeconds: number | undefined, mib: number | undefined, startedAt = began / 1_000, of: PageAt["of"] = "controller") => ({
    ...{ of, atMs: 0 },
    sums: { startedAt, cpuSeconds, residentBytes: mib === undefined ? undefined : mib * MIB } as PageSums,
  });
  const after = (ms: number): Millis => millis(NOON + ms);
  const first = usageSince(undefined, new Map([["c", page(100, 200)]]), NOON)?.mark;
  const next = (pages: Readonly<Record<string, PageAt>>, ms: number, before: UsageMark | undefined = first) =>
    usageSince(before, new Map(Object.entries(pages)), after(ms));

  it("is nothing at first, however much they took before", () => {
    expect(usageSince(undefined, new Map([["c", page(100, 200)]]), NOON)).toEqual({
      taken: [],
      mark: {
        until: NOON,
        processes: { c: { of: "controller", startedAt: began / 1_000, cpuMs: 100_000, residentKib: 204_800, at: NOON } },
      },
    });
  });

  it("is the growth of the CPU counter, and the mean of memory over the time", () => {
    expect(next({ c: page(103.5, 300) }, 2 * MINUTE)?.taken).toEqual([
      { of: "controller", cpuMs: 3_500, memoryKibS: 250 * 1_024 * 120, spanMs: 2 * MINUTE, isLate: false },
    ]);
  });

  it("is counted from its beginning for a process that took the place of another", () => {
    const again = (NOON + MINUTE) / 1_000;
    expect(next({ c: page(2, 100, again) }, 3 * MINUTE)?.taken).toMatchObject([{ cpuMs: 2_000, spanMs: 2 * MINUTE }]);
    const repoServer = page(1, 50, again, "repo-server");
    expect(next({ c: page(101, 200), r: repoServer }, 3 * MINUTE)?.taken).toMatchObject([
      { cpuMs: 1_000 },
      { of: "repo-server", cpuMs: 1_000 },
    ]);
  });

  it("is not known of a process that was there before and is read for the first time", () => {
    const { taken, mark } = next({ r: page(50, 50, began / 1_000, "repo-server") }, 2 * MINUTE) ?? {};
    expect(taken).toEqual([]);
    expect(Object.keys(mark?.processes ?? {})).toEqual(["c", "r"]);
  });

  it("is whole when a page was missing in between, and belongs to nobody known after half an hour", () => {
    const missed = next({ c: { ...page(0, 0), sums: undefined } }, 2 * MINUTE)?.mark;
    expect(next({ c: page(110, 200) }, 4 * MINUTE, missed)?.taken).toMatchObject([{ cpuMs: 10_000, spanMs: 4 * MINUTE, isLate: false }]);
    expect(next({ c: page(110, 200) }, 31 * MINUTE)?.taken).toMatchObject([{ cpuMs: 10_000, isLate: true }]);
    expect(next({}, 31 * MINUTE)?.mark.processes).toEqual({});
  });

  it("is not counted twice when a counter goes back and comes forward", () => {
    const back = next({ c: page(50, 200) }, 2 * MINUTE);
    expect(back?.taken).toEqual([]);
    expect(next({ c: page(101, 200) }, 4 * MINUTE, back?.mark)?.taken).toMatchObject([{ cpuMs: 1_000 }]);
  });

  it("is left alone where time has not gone on, or a page does not say all of it", () => {
    expect(next({ c: page(110, 200) }, 0)).toBeUndefined();
    expect(next({ c: page(110, 200) }, -MINUTE)).toBeUndefined();
    for (const bad of [page(undefined, 200), page(110, undefined), page(Number.NaN, 200), page(1e300, 200)])
      expect(next({ c: bad }, 2 * MINUTE)?.taken).toEqual([]);
  });

  it("adds up to the counters whoever samples, and whatever is missed", () => {
    const step = fc.record({
      cpu: fc.nat({ max: 500_000 }),
      mib: fc.nat({ max: 4_000 }),
      ms: fc.integer({ min: 1, max: HOUR }),
      isRead: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        let [mark, at, cpuMs, sum] = [first, NOON as number, 100_000, 0];
        for (const { cpu, mib, ms, isRead } of [...steps, { cpu: 0, mib: 1, ms: 1, isRead: true }]) {
          [at, cpuMs] = [at + ms, cpuMs + cpu];
          const pages: PagesAt = isRead ? new Map([["c", page(cpuMs / 1_000, mib)]]) : new Map();
          const since = usageSince(mark, pages, millis(at));
          sum += wholeUsage(since?.taken ?? []).controllerCpuMs;
          mark = since?.mark;
          // Half an hour without a page loses the process: what it took by then is not known.
          if (mark?.processes["c"] === undefined) return;
        }
        expect(sum).toBe(cpuMs - 100_000);
      }),
      { seed: 19, numRuns: 300 },
    );
  });
});

const unit = (name: string, over: Partial<UnitSignals> = {}): UnitSignals => ({
  ...{ unit: name as UnitId, projects: [`p-${name}`], repositories: {} },
  destinations: [{ isOwn: true, environments: [], applications: 10, resources: 100 }],
  ...over,
});
const SIGNALS: InstanceSignals = {
  ...{ milliCpu: 0, requestsPerMinute: {}, shared: { count: 8, ms: 800 }, environments: new Map(), git: undefined },
};
const taken = (of: Taken["of"], over: Partial<Taken> = {}): Taken => ({
  ...{ of, cpuMs: 10_000, memoryKibS: 120 * 500 * 1_024, spanMs: 120_000, isLate: false },
  ...over,
});
const aQuestion = (over: Partial<UsageQuestion> = {}): UsageQuestion => ({
  ...{ taken: [taken("controller")], units: [unit("a"), unit("b")], signals: SIGNALS, weights: FIRST_WEIGHTS, entries: "shared" },
  ...{ cached: { shared: 200, environments: new Map() }, canariesPerMinute: 0 },
  ...over,
});
const environment = (name: string) => name as EnvironmentId;

describe("the shares of what an instance took", () => {
  it("are its own first, then the units' by their comparisons", () => {
    const { units, base, unattributed } = attributeUsage(aQuestion());
    // A thousandth of a core for 120 s.
    expect(base.controllerCpuMs).toBe(120);
    expect([...units.values()].map(({ controllerCpuMs }) => controllerCpuMs)).toEqual([4_940, 4_940]);
    expect(unattributed).toEqual(NO_USAGE);
  });

  it("of canaries are the instance's own", () => {
    const { units, base } = attributeUsage(aQuestion({ canariesPerMinute: 4, units: [unit("a")] }));
    // Three of thirteen applications have the common pace, and four comparisons were asked for beyond it.
    const pace = (8 - 4) / (13 - 1);
    const canaries = 3 * pace + 4 - pace;
    const cost = ({ count, objects, of }: { count: number; objects: number; of: number }) =>
      ((of * FIRST_WEIGHTS.application + objects * FIRST_WEIGHTS.resource) * count) / (of * 0.4);
    const [own, users] = [cost({ count: canaries, objects: 0, of: 3 }), cost({ count: 10 * pace, objects: 100, of: 10 })];
    expect(base.controllerCpuMs - 120).toBeCloseTo((9_880 * own) / (own + users), -1);
    expect(base.controllerCpuMs + (units.get("a" as UnitId)?.controllerCpuMs ?? 0)).toBe(10_000);
  });

  it("of repo-servers go by how often applications were compared", () => {
    const git = { requests: { "r-a": 6, "r-b": 2 }, ms: {} };
    const units = ["a", "b"].map((name) => unit(name, { repositories: { [`r-${name}`]: 10 } }));
    const { units: shares, base } = attributeUsage(aQuestion({ taken: [taken("repo-server")], units, signals: { ...SIGNALS, git } }));
    expect(base).toEqual({ controllerCpuMs: 0, repoServerCpuMs: 36, memoryKibS: 120 * 500 * 1_024 });
    expect([...shares.values()].map(({ repoServerCpuMs }) => repoServerCpuMs)).toEqual([7_473, 2_491]);
  });

  it("go by applications and resources where nothing was compared", () => {
    const nothing: InstanceSignals = { ...SIGNALS, shared: { count: 0, ms: 0 } };
    const small = unit("b", { destinations: [{ isOwn: true, environments: [], applications: 5, resources: 50 }] });
    const { units } = attributeUsage(
      aQuestion({ taken: [taken("controller"), taken("repo-server")], units: [unit("a"), small], signals: nothing }),
    );
    expect(units.get("a" as UnitId)).toMatchObject({ controllerCpuMs: 6_587, repoServerCpuMs: 6_643 });
    expect(units.get("b" as UnitId)).toMatchObject({ controllerCpuMs: 3_293, repoServerCpuMs: 3_321 });
  });

  it("of memory go by what a controller is known to keep, and the shared entry belongs to nobody", () => {
    const { empty, entry, resource, application } = CONTROLLER_COST_MIB;
    const away = unit("b", { destinations: [{ isOwn: false, environments: [environment("e")], applications: 10, resources: 5 }] });
    const cached = { shared: 300, environments: new Map([[environment("e"), 1_000]]) };
    const { units, base } = attributeUsage(aQuestion({ units: [unit("a"), away], cached }));
    const parts = {
      a: 1.4 + 10 * application + 100 * resource,
      b: 1.4 + 10 * application + entry + 1_000 * resource,
      own: empty + entry + 200 * resource,
    };
    const all = parts.a + parts.b + parts.own;
    const whole = 120 * 500 * 1_024;
    expect(units.get("a" as UnitId)?.memoryKibS).toBeCloseTo((whole * parts.a) / all, -1);
    expect(units.get("b" as UnitId)?.memoryKibS).toBeCloseTo((whole * parts.b) / all, -1);
    expect(base.memoryKibS).toBeCloseTo((whole * parts.own) / all, -1);
    const [own] = attributeUsage(aQuestion({ units: [unit("a")], entries: "per-workspace" })).units.values();
    expect(own?.memoryKibS).toBeGreaterThan(whole * 0.25);
  });

  it("of an entry that no unit here uses are unattributed, and of a long time ago too", () => {
    const signals = { ...SIGNALS, environments: new Map([[environment("gone"), { count: 8, ms: 800 }]]) };
    const cached = { shared: 200, environments: new Map([[environment("gone"), 1_000]]) };
    const { unattributed } = attributeUsage(aQuestion({ signals, cached }));
    expect(unattributed.controllerCpuMs).toBe(4_940);
    expect(unattributed.memoryKibS).toBeGreaterThan(0);
    const late = attributeUsage(aQuestion({ taken: [taken("controller", { isLate: true }), taken("repo-server", { isLate: true })] }));
    expect(late.unattributed).toEqual({ controllerCpuMs: 10_000, repoServerCpuMs: 10_000, memoryKibS: 2 * 120 * 500 * 1_024 });
    expect([...late.units.values()]).toEqual([NO_USAGE, NO_USAGE]);
  });

  it("of an instance that holds nothing, or nothing with applications, are all its own", () => {
    for (const units of [[], [unit("a", { destinations: [] })]]) {
      const { base, unattributed } = attributeUsage(aQuestion({ units, signals: { ...SIGNALS, shared: { count: 0, ms: 0 } } }));
      expect(base).toEqual(wholeUsage([taken("controller")]));
      expect(unattributed).toEqual(NO_USAGE);
    }
  });

  it("are the same in whatever order units come", () => {
    const units = ["c", "a", "b"].map((name) => unit(name));
    const one = attributeUsage(aQuestion({ units, taken: [taken("controller", { cpuMs: 10_001 })] }));
    expect(attributeUsage(aQuestion({ units: units.toReversed(), taken: [taken("controller", { cpuMs: 10_001 })] }))).toEqual(one);
  });

  const amount = fc.oneof(fc.nat({ max: 5_000_000 }), fc.constantFrom(0, 1, 86_400_000));
  const number = fc.oneof(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY));
  const counts = fc.oneof(fc.nat({ max: 3_000 }), fc.constantFrom(0, -5, Number.NaN));
  const aTaken = fc.record({
    ...{ of: fc.constantFrom("controller" as const, "repo-server" as const), cpuMs: amount, memoryKibS: amount },
    ...{ spanMs: fc.integer({ min: 1, max: HOUR }), isLate: fc.boolean() },
  });
  const someEnvironment = fc.constantFrom("e-1", "e-2", "e-3").map(environment);
  const aUnit = fc.record({
    unit: fc.uuid().map((id) => id as UnitId),
    projects: fc.constantFrom(["p-1"], ["p-2", "p-3"], []),
    destinations: fc.array(
      fc.record({ isOwn: fc.boolean(), environments: fc.uniqueArray(someEnvironment), applications: counts, resources: counts }),
      { maxLength: 3 },
    ),
    repositories: fc.dictionary(fc.constantFrom("r-1", "r-2"), counts),
  });
  const rate = fc.record({ count: number, ms: number });
  const rates = fc.dictionary(fc.constantFrom("r-1", "r-2", "p-1", "p-2"), number);
  const anySignals = fc.record({
    ...{ milliCpu: number, requestsPerMinute: rates, shared: rate },
    environments: fc.array(fc.tuple(someEnvironment, rate)).map((entries) => new Map(entries)),
    git: fc.option(fc.record({ requests: rates, ms: rates }), { nil: undefined }),
  });
  const anyQuestion: fc.Arbitrary<UsageQuestion> = fc.record({
    ...{ taken: fc.array(aTaken, { maxLength: 4 }), units: fc.uniqueArray(aUnit, { selector: (one) => one.unit, maxLength: 12 }) },
    ...{ signals: anySignals, weights: fc.constantFrom(FIRST_WEIGHTS, { base: 0, request: 0, resource: 0, application: 0 }) },
    entries: fc.constantFrom("shared" as const, "per-workspace" as const),
    cached: fc.record({ shared: number, environments: fc.array(fc.tuple(someEnvironment, number)).map((all) => new Map(all)) }),
    canariesPerMinute: fc.constantFrom(0, 4),
  });

  it("add up to what it took, exactly, in whole numbers, and none is less than nothing", () => {
    fc.assert(
      fc.property(anyQuestion, (question) => {
        const { units, base, unattributed } = attributeUsage(question);
        const shares: readonly Usage[] = [...units.values(), base, unattributed];
        expect(shares.reduce(addUsage)).toEqual(wholeUsage(question.taken));
        for (const share of shares)
          for (const dimension of USAGE_DIMENSIONS) expect(Number.isSafeInteger(share[dimension]) && share[dimension] >= 0).toBe(true);
        expect(units.size).toBe(question.units.length);
      }),
      { seed: 65, numRuns: 2_000 },
    );
  });
});
