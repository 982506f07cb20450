import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { aFacts, aReport, aRow, longAbove, unitRows } from "../testing/facts.ts";
import { HOUR_MS, NOON } from "../testing/snapshots.ts";
import { assembleSnapshot, type PlanningFacts } from "./assemble.ts";
import { nextClassState } from "./next-class-state.ts";

const [A, B] = [aRow("a"), aRow("b")];
const next = (facts: PlanningFacts, at = NOON) => nextClassState(facts, assembleSnapshot(facts, at));
const flooded = (milliCpu: number) => ({ planning: ZERO_LOAD, recent: { ...ZERO_LOAD, milliCpu }, at: NOON });

describe("what is remembered of a class", () => {
  it("has since when an instance has been above the bound, until it is not", () => {
    const full = aFacts([A, B], [...unitRows("a", 18, 50), ...unitRows("b", 2, 50)]);
    expect(next(full).aboveSince).toEqual({ [A.id]: NOON });
    expect(next({ ...full, ...longAbove("a") }).aboveSince).toEqual({ [A.id]: NOON - 13 * HOUR_MS });
    expect(next({ ...aFacts([A, B], unitRows("a", 2, 50)), ...longAbove("a") }).aboveSince).toEqual({});
  });

  it("has since when an instance has been overloaded, with a gap between beginning and end", () => {
    const at = (milliCpu: number, since?: number) =>
      next(
        aFacts([A, B], unitRows("a", 10, 1, { known: flooded(milliCpu) }), {
          state: { aboveSince: {}, overloadedSince: since === undefined ? {} : { [A.id]: millis(since) } },
        }),
      ).overloadedSince;
    expect(at(91)).toEqual({ [A.id]: NOON });
    expect(at(85)).toEqual({});
    expect(at(85, NOON - 5)).toEqual({ [A.id]: NOON - 5 });
    expect(at(79, NOON - 5)).toEqual({});
  });

  it("has the last trusted total, and after a jump the new level as its rival", () => {
    const facts = aFacts([A, B], []);
    expect(next(facts).reference).toEqual({ total: loadVector(() => 1000) });
    const jumped = { ...facts, state: { ...facts.state, reference: { total: loadVector(() => 100) } } };
    expect(next(jumped).reference).toEqual({ total: loadVector(() => 100), rival: { total: loadVector(() => 1000), since: NOON } });
  });

  it("learns nothing from metrics that are not trusted, and forgets overloads that they do not show", () => {
    const known = { aboveSince: { [B.id]: NOON }, overloadedSince: { [A.id]: NOON }, reference: { total: ZERO_LOAD } };
    const facts = aFacts([A, B], unitRows("a", 10, 50, { known: flooded(99) }), { instanceLoads: [], state: known });
    expect(next(facts)).toEqual({ aboveSince: { [B.id]: NOON }, overloadedSince: {}, reference: { total: ZERO_LOAD } });
  });

  describe("whose pools are sized by load, of the hours of a jump", () => {
    const POOL = { name: "standard" } as NonNullable<PlanningFacts["scaled"]>[number];
    /** Hour by hour what is remembered, where the class takes so much of CPU. */
    const rememberedAfter = (hours: number, cpuOf: (hour: number) => number) => {
      let state: PlanningFacts["state"] = { aboveSince: {}, overloadedSince: {} };
      for (let hour = 0; hour <= hours; hour += 1) {
        const at = millis(NOON + hour * HOUR_MS);
        const total = { ...ZERO_LOAD, milliCpu: cpuOf(hour) };
        const facts = aFacts([A, B], [], { scaled: [POOL], state, instanceLoads: [A, B].map(({ id }) => aReport(id, at, total)) });
        state = next(facts, at);
      }
      return state;
    };
    const learnt = (state: PlanningFacts["state"]) =>
      Object.values(state.demand?.hours ?? {})
        .toSorted((a, b) => a.at - b.at)
        .map(({ load }) => Math.round(load.milliCpu));

    it("keeps those of a level that lasts, once that is believed", () => {
      const level = (hour: number): number => (hour < 5 ? 500 : 1_000);
      expect(learnt(rememberedAfter(4, level))).toHaveLength(5);
      const doubted = rememberedAfter(5 + 23, level);
      expect(learnt(doubted)).toHaveLength(5);
      expect(Object.keys(doubted.doubted?.hours ?? {})).toHaveLength(24);
      const believed = rememberedAfter(5 + 24, level);
      expect(learnt(believed)).toEqual([...Array.from({ length: 5 }, () => 1_000), ...Array.from({ length: 25 }, () => 2_000)]);
      expect(believed.doubted).toBeUndefined();
    });

    it("forgets those of a level that does not last", () => {
      const back = rememberedAfter(10, (hour) => (hour >= 5 && hour < 9 ? 1_000 : 500));
      expect(learnt(back)).toEqual(Array.from({ length: 7 }, () => 1_000));
      expect(back.doubted).toBeUndefined();
      const on = rememberedAfter(12, (hour) => (hour < 5 ? 500 : hour < 9 ? 1_000 : 4_000));
      expect(Object.values(on.doubted?.hours ?? {}).map(({ load }) => load.milliCpu)).toEqual(Array.from({ length: 4 }, () => 8_000));
    });

    it("finds no jump in what it does at the same time each week", () => {
      const weekly = (hour: number): number => (hour % 168 >= 100 && hour % 168 < 148 ? 500 : 1_000);
      for (const hour of [100, 101, 148, 149]) {
        expect(rememberedAfter(hour, weekly).reference?.rival).toBeDefined();
        expect(rememberedAfter(168 + hour, weekly).reference?.rival).toBeUndefined();
      }
      // The second Tuesday was usual before the first had been believed.
      expect(learnt(rememberedAfter(168, weekly))).toHaveLength(168);
    });
  });

  it("has CPU weights, which are fitted once a day", () => {
    const instances = Array.from({ length: 12 }, (_, index) => aRow(`s${index}`));
    const instanceLoads = instances.map(({ id }, index) => ({
      ...aReport(id, NOON),
      observation: { milliCpu: 25 + 10 * index, requests: 200 * index, resources: 0, applications: 0 },
    }));
    const facts = aFacts(instances, [], { instanceLoads });
    const first = next(facts);
    expect(first.fittedAt).toBe(NOON);
    expect(first.weights?.request).toBeCloseTo(0.05, 2);
    expect(next({ ...facts, state: first }, millis(NOON + 60_000)).fittedAt).toBe(NOON);
  });
});
