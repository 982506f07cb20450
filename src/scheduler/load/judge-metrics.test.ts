import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { addLoad, asLoadVector, LOAD_DIMENSIONS, type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { NOON } from "../testing/snapshots.ts";
import { type InstanceReport, isPlausible, judgeMetrics, negligibleFor, totalOf } from "./judge-metrics.ts";
import { nextReference } from "./next-reference.ts";

const LOAD: LoadVector = loadVector(() => 100);
const MINUTE = 60_000;
const report = (instance: string, more: Partial<InstanceReport> = {}): InstanceReport => ({ instance, at: NOON, total: LOAD, ...more });
const FLEET = Array.from({ length: 20 }, (_, index) => report(`i${index}`));
const REFERENCE = totalOf(FLEET);
const judge = (reports: readonly InstanceReport[], reference: LoadVector | undefined = REFERENCE) =>
  judgeMetrics({ now: NOON, reports, reference });
const scaled = (factor: number) => FLEET.map((each) => ({ ...each, total: loadVector((d) => Math.round(each.total[d] * factor)) }));
const withFirst = (more: Partial<InstanceReport>, count = 1) => FLEET.map((each, index) => (index < count ? { ...each, ...more } : each));

const jumped = { kind: "distrusted", rule: "JUMP", dimension: "milliCpu", was: 1, is: 2, limit: 300_000 } as const;

describe("judging what was measured", () => {
  it.each([
    ["steady loads", FLEET],
    ["30 % more", scaled(1.3)],
    ["30 % less", scaled(0.7)],
    ["reports that are ten minutes old", withFirst({ at: millis(NOON - 10 * MINUTE) }, 20)],
    ["one of twenty that is silent", withFirst({ at: undefined })],
  ])("trusts %s", (_what, reports) => {
    expect(judge(reports)).toEqual({ kind: "trusted" });
  });

  it.each([
    ["all zero", scaled(0), { rule: "JUMP", was: 2_000, is: 0, limit: 300_000 }],
    ["ten times as much", scaled(10), { rule: "JUMP", was: 2_000, is: 20_000 }],
    ["31 % more", scaled(1.31), { rule: "JUMP" }],
    ["half of them missing", withFirst({ at: millis(NOON - 11 * MINUTE) }, 10), { rule: "PARTIAL", reporting: 10, of: 20, limit: 950_000 }],
    ["two of twenty missing", withFirst({ at: undefined }, 2), { rule: "PARTIAL", reporting: 18 }],
    [
      "all older than ten minutes",
      withFirst({ at: millis(NOON - 10 * MINUTE - 1) }, 20),
      { rule: "STALE", ageMs: 600_001, limitMs: 600_000 },
    ],
    ["clocks that run ahead", withFirst({ at: millis(NOON + 11 * MINUTE) }, 20), { rule: "STALE" }],
    ["a negative load", withFirst({ total: { ...LOAD, milliCpu: -1 } }), { rule: "IMPLAUSIBLE", subject: "i0", dimension: "milliCpu" }],
    ["no number", withFirst({ total: { ...LOAD, gitPerMinute: Number.NaN } }), { rule: "IMPLAUSIBLE", dimension: "gitPerMinute" }],
    ["an infinite load", withFirst({ total: { ...LOAD, applications: Number.POSITIVE_INFINITY } }), { rule: "IMPLAUSIBLE" }],
    ["a load beyond all reason", withFirst({ total: { ...LOAD, applications: 1e12 } }), { rule: "IMPLAUSIBLE" }],
    ["half an application", withFirst({ total: { ...LOAD, applications: 0.5 } }), { rule: "IMPLAUSIBLE" }],
    ["nobody", [], { rule: "NONE" }],
    ["nobody who ever reported", withFirst({ at: undefined }, 20), { rule: "NONE" }],
  ])("distrusts %s, and says why", (_what, reports, verdict) => {
    expect(judge(reports)).toMatchObject({ kind: "distrusted", ...verdict });
    expect(judge([...reports].reverse())).toEqual(judge(reports));
  });

  it("names the first instance with an impossible load, and its first such dimension", () => {
    const bad = withFirst({ total: { ...LOAD, cachedResources: -1, milliCpu: -1 } }, 3);
    for (const reports of [bad, bad.toReversed()]) expect(judge(reports)).toMatchObject({ subject: "i0", dimension: "cachedResources" });
  });

  it("says of old reports how old the newest is, and is content with one in twenty that is", () => {
    const old = FLEET.map((each, index) => ({ ...each, at: millis(NOON - (20 + index) * MINUTE) }));
    expect(judge(old.toReversed())).toMatchObject({ rule: "STALE", newest: NOON - 20 * MINUTE, ageMs: 20 * MINUTE });
    expect(judge(withFirst({ at: millis(NOON - 11 * MINUTE) }))).toEqual({ kind: "trusted" });
    expect(judge(withFirst({ at: millis(NOON + 10 * MINUTE) }, 20))).toEqual({ kind: "trusted" });
  });

  it("names the dimension that jumped, with what it was and is", () => {
    const more = FLEET.map((each) => ({ ...each, total: { ...LOAD, milliCpu: 131 } }));
    expect(judge(more)).toEqual({
      ...{ kind: "distrusted", rule: "JUMP", dimension: "milliCpu", was: 2_000, is: 2_620, limit: 300_000, until: NOON + 24 * 60 * MINUTE },
    });
    expect(judge(FLEET, { ...REFERENCE, gitPerMinute: 0 })).toEqual({ kind: "trusted" });
  });

  it("lets a small fleet grow: a change that is small compared with one instance's capacity is no jump, up or down", () => {
    const bears = asLoadVector({
      applications: 1_000_000,
      clusterEntries: 60,
      cachedResources: 250_000,
      milliCpu: 2_000,
      gitPerMinute: 600_000,
    });
    const small = (applications: number) =>
      asLoadVector({
        ...{ applications: applications * 1_000, clusterEntries: 2, cachedResources: applications * 30, milliCpu: applications * 5 },
        gitPerMinute: applications * 500,
      });
    const grown = (from: number, to: number) =>
      judgeMetrics({
        ...{ now: NOON, reports: [report("a", { total: small(to) })], reference: small(from), negligible: negligibleFor([bears, bears]) },
      });
    for (const [from, to] of [[4, 24] as const, [6, 20] as const, [24, 4] as const, [20, 0] as const])
      expect(grown(from, to)).toEqual({ kind: "trusted" });
    expect(grown(400, 80)).toMatchObject({ rule: "JUMP", dimension: "applications", was: 400_000, is: 80_000 });
    expect(grown(80, 400)).toMatchObject({ rule: "JUMP", dimension: "milliCpu", was: 400, is: 2_000 });
  });

  it("believes any rise in counted dimensions, but not a fall", () => {
    const counted = { ...REFERENCE, applications: 20_000, clusterEntries: 20_000, gitPerMinute: 20_000 };
    expect(judge([report("a", { total: counted })])).toEqual({ kind: "trusted" });
    expect(judge([report("a", { total: { ...REFERENCE, applications: 1_000 } })])).toMatchObject({
      rule: "JUMP",
      dimension: "applications",
    });
  });

  it("trusts a jump to what is usual at this time of the week, and no other one", () => {
    const usually = (factor: number, ...usual: readonly number[]) =>
      judgeMetrics({
        ...{ now: NOON, reports: scaled(factor), reference: REFERENCE },
        usual: usual.map((each) => loadVector((d) => REFERENCE[d] * each)),
      });
    expect(usually(2, 1.6)).toEqual({ kind: "trusted" });
    expect(usually(0.5, 0.45, 1)).toEqual({ kind: "trusted" });
    expect(usually(0.5, 1, 0.45)).toEqual({ kind: "trusted" });
    for (const usual of [[], [1], [1.5]]) expect(usually(2, ...usual)).toMatchObject({ rule: "JUMP", was: 2_000, is: 4_000 });
    // What it usually does is no reason to doubt that it does as before.
    expect(usually(1, 2)).toEqual({ kind: "trusted" });
  });

  it("says when a jump is believed: a day after the totals reached their present level", () => {
    const total = loadVector((d) => REFERENCE[d] * 2);
    const rival = { total, since: millis(NOON - 20 * 60 * MINUTE) };
    const untilWith = (near: LoadVector) =>
      judgeMetrics({ now: NOON, reports: scaled(2), reference: REFERENCE, rival: { ...rival, total: near } });
    expect(untilWith(total)).toMatchObject({ rule: "JUMP", until: NOON + 4 * 60 * MINUTE });
    expect(untilWith(ZERO_LOAD)).toMatchObject({ rule: "JUMP", until: NOON + 24 * 60 * MINUTE });
    expect(nextReference({ total: REFERENCE, rival }, { ...jumped, until: NOON }, { total, at: millis(NOON + 4 * 60 * MINUTE) })).toEqual({
      total,
    });
  });

  it("compares the first totals with nothing, and calls no first load a jump", () => {
    expect(judgeMetrics({ now: NOON, reports: scaled(10) })).toEqual({ kind: "trusted" });
    expect(judge(FLEET, ZERO_LOAD)).toEqual({ kind: "trusted" });
  });

  it("knows what can be a load", () => {
    expect([0, 1, 1e9].map(isPlausible)).toEqual([true, true, true]);
    expect([-1, 1.5, 1e9 + 1, Number.NaN, Number.POSITIVE_INFINITY].some(isPlausible)).toBe(false);
  });

  it("adds up what instances report", () => {
    expect(totalOf([report("a"), report("b")])).toEqual(addLoad(LOAD, LOAD));
    expect(LOAD_DIMENSIONS.every((dimension) => REFERENCE[dimension] === 2_000)).toBe(true);
  });
});

describe("the totals that the next ones are compared with", () => {
  const DAY = 24 * 60 * MINUTE;
  const double = loadVector((d) => REFERENCE[d] * 2);

  it("are the last that were trusted", () => {
    expect(nextReference(undefined, { kind: "trusted" }, { total: double, at: NOON })).toEqual({ total: double });
    expect(
      nextReference({ total: REFERENCE, rival: { total: double, since: NOON } }, { kind: "trusted" }, { total: LOAD, at: NOON }),
    ).toEqual({ total: LOAD });
  });

  it("are a new level once it has lasted for a day, and not before", () => {
    const first = nextReference({ total: REFERENCE }, jumped, { total: double, at: NOON });
    expect(first).toEqual({ total: REFERENCE, rival: { total: double, since: NOON } });
    expect(nextReference(first, jumped, { total: double, at: millis(NOON + DAY - 1) })).toEqual(first);
    expect(nextReference(first, jumped, { total: double, at: millis(NOON + DAY) })).toEqual({ total: double });
  });

  it("are a new level once it has lasted for a day, although it has noons and midnights", () => {
    const wave = (minute: number) => 2 - 0.8 * Math.cos((2 * Math.PI * minute) / (24 * 60));
    let known = nextReference({ total: REFERENCE }, jumped, { total: double, at: NOON });
    for (let minute = 10; minute <= 24 * 60; minute += 10) {
      expect(known?.rival?.since).toBe(NOON);
      const total = loadVector((d) => Math.round((REFERENCE[d] * 2 * wave(minute + 360)) / 2));
      known = nextReference(known, jumped, { total, at: millis(NOON + minute * MINUTE) });
    }
    expect(known?.rival).toBeUndefined();
  });

  it("are not a level that keeps jumping", () => {
    const first = nextReference({ total: REFERENCE }, jumped, { total: double, at: NOON });
    const later = { total: loadVector((d) => REFERENCE[d] * 10), at: millis(NOON + DAY) };
    expect(nextReference(first, jumped, later)).toEqual({ total: REFERENCE, rival: { total: later.total, since: later.at } });
  });

  it("are not a level from which one dimension moves away by more than 30 %, up or down", () => {
    const first = nextReference({ total: REFERENCE }, jumped, { total: double, at: NOON });
    const following = (change: number) => {
      const total = { ...double, gitPerMinute: Math.round(double.gitPerMinute * change) };
      return nextReference(first, jumped, { total, at: millis(NOON + DAY) });
    };
    for (const near of [0.7, 1, 1.3]) expect(following(near)?.rival).toBeUndefined();
    for (const far of [0.69, 1.31]) expect(following(far)?.rival?.since).toBe(NOON + DAY);
  });

  it("are not changed by missing or impossible reports", () => {
    const stale = { kind: "distrusted", rule: "NONE" } as const;
    expect(nextReference({ total: REFERENCE }, stale, { total: double, at: NOON })).toEqual({ total: REFERENCE });
    expect(nextReference(undefined, jumped, { total: double, at: NOON })).toBeUndefined();
  });
});
