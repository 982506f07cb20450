import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EnvironmentId } from "../../domain/ids.ts";
import { excessiveEntries, type HeavyEntries, nextHeavyEntries } from "./weigh-entries.ts";

const environmentOf = (server: string) => (server.startsWith("env-") ? (server as EnvironmentId) : undefined);
const none: HeavyEntries = new Map();

interface Page {
  readonly objects?: Readonly<Record<string, number>>;
  readonly apis?: Readonly<Record<string, number>>;
  readonly startedAt?: number | undefined;
}

const excessAfter = (pages: readonly Page[], budget = 1_000): readonly (readonly [string, number, number])[] => {
  const heavy = pages.reduce((before, { objects = {}, apis = {}, startedAt = 5 }) => {
    const sums = { startedAt, entryObjects: new Map(Object.entries(objects)), entryApis: new Map(Object.entries(apis)) };
    return nextHeavyEntries(before, { sums, environmentOf, budget });
  }, none);
  return excessiveEntries(heavy).map(({ id, objects, apis }) => [id, objects, apis]);
};
const heavy = (over: Page = {}): Page => ({ objects: { "env-1": 1_001 }, ...over });
const light = (over: Page = {}): Page => ({ objects: { "env-1": 1_000 }, ...over });

describe("an environment's entry", () => {
  it("is excessive once it was beyond the budget three times in a row, and not before", () => {
    expect(excessAfter([heavy()])).toEqual([]);
    expect(excessAfter([heavy(), heavy()])).toEqual([]);
    expect(excessAfter([heavy(), heavy(), heavy()])).toEqual([["env-1", 1_001, 0]]);
    expect(excessAfter([heavy(), heavy(), light(), heavy(), heavy()])).toEqual([]);
  });

  it("is within a budget that it just fills, and is not weighed by a neighbour's or the own cluster's objects", () => {
    const crowded: Page = { objects: { "env-1": 1_000, "https://own": 9e6, "env-2": 9_000 } };
    expect(excessAfter([crowded, crowded, crowded])).toEqual([["env-2", 9_000, 0]]);
  });

  it("weighs by its APIs too, also without an object", () => {
    const endless: Page = { apis: { "env-1": 126 } };
    expect(excessAfter([endless, endless, endless])).toEqual([["env-1", 0, 126]]);
    const usual: Page = { apis: { "env-1": 125 } };
    expect(excessAfter([usual, usual, usual])).toEqual([]);
  });

  it("is counted on while it ends its controller again and again, which shows nothing of it at first", () => {
    const begun = (startedAt: number): Page => ({ startedAt });
    expect(excessAfter([heavy({ startedAt: 1 }), begun(2), heavy({ startedAt: 2 }), begun(3), heavy({ startedAt: 3 })])).toHaveLength(1);
    expect(excessAfter([heavy({ startedAt: 1 }), begun(2), begun(2), heavy({ startedAt: 2 }), heavy({ startedAt: 2 })])).toEqual([]);
  });

  it("that is not in the page any more is forgotten", () => {
    expect(excessAfter([heavy(), heavy(), {}, heavy(), heavy()])).toEqual([]);
  });

  it("is never excessive by what was within the budget all the time", () => {
    const page = fc.record({ objects: fc.dictionary(fc.constantFrom("env-1", "env-2"), fc.nat(900)), startedAt: fc.nat(3) });
    fc.assert(fc.property(fc.array(page), (pages) => excessAfter(pages).length === 0));
  });
});
