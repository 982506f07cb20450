import { describe, expect, it } from "vitest";
import { NOTHING, NOWHERE, openLedger } from "./ledger.ts";

const SMALL = [10, 20, 30, 40, 50];
const LARGE = [100, 200, 300, 400, 500];
const one = (dimension: number, amount: number): readonly number[] => NOTHING.map((_, d) => (d === dimension ? amount : 0));

describe("what instances carry", () => {
  it("is what came minus what left, for each instance; NOWHERE carries nothing", () => {
    const ledger = openLedger([SMALL, LARGE]);
    ledger.add(0, [1, 2, 3, 4, 5], 1);
    ledger.add(1, [6, 7, 8, 9, 10], 1);
    ledger.add(1, [1, 1, 1, 1, 2], -1);
    ledger.add(NOWHERE, [9, 9, 9, 9, 9], 1);
    expect([ledger.loadOf(0), ledger.loadOf(1)]).toEqual([
      [1, 2, 3, 4, 5],
      [5, 6, 7, 8, 8],
    ]);
    expect([ledger.capacityOf(0), ledger.capacityOf(1)]).toEqual([SMALL, LARGE]);
  });

  it("is compared with a share of the capacity in one dimension, rounded down", () => {
    const ledger = openLedger([SMALL, LARGE]);
    ledger.add(1, [60, 70, 80, 90, 100], 1);
    expect([0, 1, 2, 3, 4].map((d) => ledger.surplus(1, d, 255_000))).toEqual([35, 19, 4, -12, -27]);
    expect([0, 1, 2, 3, 4].map((d) => ledger.surplus(0, d, 1_000_000))).toEqual(SMALL.map((amount) => -amount));
  });

  it.each([0, 1, 2, 3, 4])("is measured by the fullest dimension, which may be number %i, with what would come", (d) => {
    const ledger = openLedger([SMALL, LARGE]);
    ledger.add(1, [4, 4, 4, 4, 4], 1);
    const more = one(d, (LARGE[d] as number) / 2 - 4);
    expect(ledger.shareWith(1, more)).toBe(500_000);
    expect([ledger.fits(1, more, 500_000), ledger.fits(1, more, 499_999)]).toEqual([true, false]);
    expect([ledger.shareWith(0, NOTHING), ledger.fits(0, NOTHING, 0)]).toEqual([0, true]);
    ledger.add(1, more, 1);
    expect(ledger.shareWith(1, NOTHING)).toBe(500_000);
    ledger.add(1, more, -1);
    expect(ledger.shareWith(1, NOTHING)).toBe(40_000);
  });
});
