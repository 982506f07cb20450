import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ComparedPart, dealComparisons } from "./deal-comparisons.ts";

const part = (applications: number, repositories: number, gitRequests: number): ComparedPart => ({
  applications,
  repositories,
  gitRequests,
});
const rounded = (total: number, ...parts: readonly ComparedPart[]) => dealComparisons(total, parts).map((own) => Math.round(own * 10) / 10);

describe("dealing comparisons", () => {
  it.each([
    ["by number if each application asks Git", 48, [part(12, 1, 36), part(12, 3, 12)], [36, 12]],
    ["by number if one application of each repository asks for all", 24, [part(12, 1, 1), part(12, 12, 12)], [12, 12]],
    ["with requested refreshes beyond the common pace, if one asks for all", 48, [part(12, 1, 25), part(12, 1, 1)], [36, 12]],
    ["by applications if requests to Git are not known", 30, [part(2, 1, 0), part(4, 2, 0)], [10, 20]],
    ["by requests if there are more of them than comparisons", 30, [part(2, 1, 40), part(40, 2, 20)], [20, 10]],
    ["to nobody if nothing was compared", 0, [part(2, 1, 0), part(4, 2, 5)], [0, 0]],
    ["to nobody if there is no part", 9, [], []],
    ["nothing to a part without applications", 9, [part(0, 0, 0), part(3, 1, 0)], [0, 9]],
  ] as const)("goes %s", (_what, total, parts, expected) => expect(rounded(total, ...parts)).toEqual(expected));

  it("adds up, whatever the order of parts, and gives a part with more requests no less", () => {
    const anyPart = fc
      .record({ repositories: fc.integer({ min: 1, max: 20 }), more: fc.nat({ max: 50 }), gitRequests: fc.nat({ max: 500 }) })
      .map(({ repositories, more, gitRequests }) => part(repositories + more, repositories, gitRequests));
    fc.assert(
      fc.property(fc.nat({ max: 2_000 }), fc.array(anyPart, { minLength: 1 }), fc.nat({ max: 100 }), (total, parts, more) => {
        const dealt = dealComparisons(total, parts);
        expect(dealt.reduce((sum, own) => sum + own, 0)).toBeCloseTo(total, 6);
        const turned = dealComparisons(total, parts.toReversed()).toReversed();
        for (const [index, own] of dealt.entries()) expect(turned[index]).toBeCloseTo(own, 6);
        const [first, ...others] = parts;
        const busier = dealComparisons(total, [
          { ...(first as ComparedPart), gitRequests: (first as ComparedPart).gitRequests + more },
          ...others,
        ]);
        expect(busier[0] as number).toBeGreaterThanOrEqual((dealt[0] as number) - 1e-6);
      }),
    );
  });
});
