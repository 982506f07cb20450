import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ClassQuota, type DeclaredQuota, quotaOfClass, quotaOfClasses, type WorkspaceQuota } from "./quota.ts";

const QUOTA: DeclaredQuota = { deployments: 100, syncsPerMinute: 20, environments: 7, environmentObjects: 20_000 };
const [SMALL, LARGE] = ["eu/small/public", "eu/large/public"];
const declared = {
  quota: QUOTA,
  classQuotas: [
    { class: SMALL, deployments: 10, environmentObjects: 5_000 },
    { class: LARGE, deployments: 900, syncsPerMinute: 60 },
  ],
};
const NUMBERS = ["deployments", "syncsPerMinute", "environments", "environmentObjects"] as const;
const bounds = (quota: WorkspaceQuota) => NUMBERS.map((name) => quota[name] ?? Number.POSITIVE_INFINITY);

describe("what a workspace may have", () => {
  it("is what is declared for its class, and what is declared for all where that says nothing", () => {
    expect(quotaOfClass(declared, SMALL)).toEqual({ ...QUOTA, deployments: 10, environmentObjects: 5_000 });
    expect(quotaOfClass(declared, LARGE)).toEqual({ ...QUOTA, deployments: 900, syncsPerMinute: 60 });
    expect(quotaOfClass(declared, "us/shared/public")).toEqual(QUOTA);
    expect(quotaOfClass({ quota: QUOTA }, SMALL)).toEqual(QUOTA);
  });

  it("is the smaller number of each between two classes, and what is declared for all of none", () => {
    expect(quotaOfClasses(declared, [LARGE, SMALL])).toEqual({ ...QUOTA, deployments: 10, environmentObjects: 5_000 });
    expect(quotaOfClasses(declared, [LARGE])).toEqual(quotaOfClass(declared, LARGE));
    expect(quotaOfClasses(declared, [])).toEqual(QUOTA);
  });

  it("has fifty environments, and no bound of objects, where it was declared before these could be", () => {
    const before = { deployments: 9, syncsPerMinute: 3 };
    expect(quotaOfClass({ quota: before }, SMALL)).toEqual({ ...before, environments: 50 });
    expect(quotaOfClasses({ quota: before }, [])).toEqual({ ...before, environments: 50 });
    const one = { quota: before, classQuotas: [{ class: SMALL, environmentObjects: 5_000 }] };
    expect(quotaOfClasses(one, [LARGE, SMALL])).toEqual({ ...before, environments: 50, environmentObjects: 5_000 });
  });

  it("is of several classes, in whatever order, never more than of one of them, and always that of one of them", () => {
    const number = fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined });
    const own = fc.record({ deployments: number, syncsPerMinute: number, environments: number, environmentObjects: number });
    const names = ["a/b/c", "d/e/f", "g/h/i", "j/k/l"];
    const of = (numbers: readonly Record<string, number | undefined>[]): readonly ClassQuota[] =>
      numbers.map((each, index) => ({
        class: names[index] ?? "",
        ...Object.fromEntries(Object.entries(each).filter(([, value]) => value !== undefined)),
      }));
    fc.assert(
      fc.property(fc.array(own, { maxLength: 4 }), fc.subarray(names, { minLength: 1 }), (numbers, classes) => {
        const all = { quota: QUOTA, classQuotas: of(numbers) };
        const quota = quotaOfClasses(all, classes);
        expect(quotaOfClasses(all, classes.toReversed())).toEqual(quota);
        for (const [index, bound] of bounds(quota).entries())
          expect(bound).toBe(Math.min(...classes.map((name) => bounds(quotaOfClass(all, name))[index] ?? 0)));
      }),
    );
  });
});
