import { describe, expect, it } from "vitest";
import { type CandidateSet, chooseCandidate } from "./choose-candidate.ts";

/** Instances by the share they would have with the unit; one without a share admits nobody. */
const candidateSet = (shares: readonly (number | undefined)[], ties = "abcdefgh"): CandidateSet => ({
  size: shares.length,
  admits: (candidate, bound) => (shares[candidate] ?? Number.POSITIVE_INFINITY) <= bound,
  shareWith: (candidate) => shares[candidate] ?? 0,
  tie: (candidate) => ties.charAt(candidate),
});
const BOUNDS = [50, 60, 90];

describe("the instance that is chosen", () => {
  it("is the first candidate of the walk within the tightest bound that any instance is within", () => {
    expect(chooseCandidate(candidateSet([10, 20, 30]), [2, 0], BOUNDS)).toEqual({ candidate: 2, bound: 50, rank: 0 });
    expect(chooseCandidate(candidateSet([10, 20, 51]), [2, 0], BOUNDS)).toEqual({ candidate: 0, bound: 50, rank: 1 });
    expect(chooseCandidate(candidateSet([55, 70, 60]), [1, 2, 0], BOUNDS)).toEqual({ candidate: 2, bound: 60, rank: 1 });
  });

  it("is the least loaded instance within the bound before a looser bound is tried", () => {
    expect(chooseCandidate(candidateSet([49, 20, 30, 55]), [3], BOUNDS)).toEqual({ candidate: 1, bound: 50, rank: -1 });
    expect(chooseCandidate(candidateSet([80, 70, 75]), [], BOUNDS)).toEqual({ candidate: 1, bound: 90, rank: -1 });
  });

  it("is not decided by the load of instances that admit nobody", () => {
    expect(chooseCandidate(candidateSet([undefined, 40, undefined, 30]), [0], BOUNDS)).toEqual({ candidate: 3, bound: 50, rank: -1 });
    expect(chooseCandidate(candidateSet([40, undefined, 40]), [], BOUNDS)?.candidate).toBe(0);
  });

  it("is decided by the tie-break between equally loaded instances, whatever their order", () => {
    expect(chooseCandidate(candidateSet([40, 40, 41, 40], "cbxa"), [], BOUNDS)?.candidate).toBe(3);
    expect(chooseCandidate(candidateSet([40, 40, 41, 40], "bacd"), [], BOUNDS)?.candidate).toBe(1);
    expect(chooseCandidate(candidateSet([41, 40, 40, 39], "abcd"), [], BOUNDS)?.candidate).toBe(3);
    expect(chooseCandidate(candidateSet([41, 40, 40, 45], "adcb"), [], BOUNDS)?.candidate).toBe(2);
  });

  it("is none where nothing fits, or there is nothing", () => {
    expect(chooseCandidate(candidateSet([91, undefined]), [0], BOUNDS)).toBeUndefined();
    expect(chooseCandidate(candidateSet([]), [], BOUNDS)).toBeUndefined();
    expect(chooseCandidate(candidateSet([1]), [0], [])).toBeUndefined();
  });
});
