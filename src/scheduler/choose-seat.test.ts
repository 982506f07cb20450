import { describe, expect, it } from "vitest";
import { chooseSeat, type Room } from "./choose-seat.ts";

/** Instances by what they would carry with the unit; what is not there admits nobody. */
const room = (shares: readonly (number | undefined)[], ties = "abcdefgh"): Room => ({
  size: shares.length,
  admits: (seat, bound) => (shares[seat] ?? Number.POSITIVE_INFINITY) <= bound,
  shareWith: (seat) => shares[seat] ?? 0,
  tie: (seat) => ties.charAt(seat),
});
const BOUNDS = [50, 60, 90];

describe("the seat that is chosen", () => {
  it("is the first candidate within the tightest bound that one is within", () => {
    expect(chooseSeat(room([10, 20, 30]), [2, 0], BOUNDS)).toEqual({ seat: 2, bound: 50, rank: 0 });
    expect(chooseSeat(room([10, 20, 51]), [2, 0], BOUNDS)).toEqual({ seat: 0, bound: 50, rank: 1 });
    expect(chooseSeat(room([55, 70, 60]), [1, 2, 0], BOUNDS)).toEqual({ seat: 2, bound: 60, rank: 1 });
  });

  it("is the least loaded of all before a looser bound is tried", () => {
    expect(chooseSeat(room([49, 20, 30, 55]), [3], BOUNDS)).toEqual({ seat: 1, bound: 50, rank: -1 });
    expect(chooseSeat(room([80, 70, 75]), [], BOUNDS)).toEqual({ seat: 1, bound: 90, rank: -1 });
  });

  it("does not go by the load of an instance that admits nobody", () => {
    expect(chooseSeat(room([undefined, 40, undefined, 30]), [0], BOUNDS)).toEqual({ seat: 3, bound: 50, rank: -1 });
    expect(chooseSeat(room([40, undefined, 40]), [], BOUNDS)?.seat).toBe(0);
  });

  it("is decided by the tie between those that are equally loaded, wherever they stand", () => {
    expect(chooseSeat(room([40, 40, 41, 40], "cbxa"), [], BOUNDS)?.seat).toBe(3);
    expect(chooseSeat(room([40, 40, 41, 40], "bacd"), [], BOUNDS)?.seat).toBe(1);
    expect(chooseSeat(room([41, 40, 40, 39], "abcd"), [], BOUNDS)?.seat).toBe(3);
    expect(chooseSeat(room([41, 40, 40, 45], "adcb"), [], BOUNDS)?.seat).toBe(2);
  });

  it("is none where nothing fits, or there is nothing", () => {
    expect(chooseSeat(room([91, undefined]), [0], BOUNDS)).toBeUndefined();
    expect(chooseSeat(room([]), [], BOUNDS)).toBeUndefined();
    expect(chooseSeat(room([1]), [0], [])).toBeUndefined();
  });
});
