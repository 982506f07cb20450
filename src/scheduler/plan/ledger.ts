import { LOAD_DIMENSIONS } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";
import { shareOf } from "../utilisation.ts";

const WIDTH = LOAD_DIMENSIONS.length;

/** Stands for "on no instance of this class" wherever an instance's index is expected. */
export const NOWHERE = -1;

/**
 * What every instance carries and could carry. Whole numbers in flat arrays, because a plan for 100,000 units reads them
 * millions of times; amounts are in the order of LOAD_DIMENSIONS.
 */
export interface Ledger {
  /** Adds (1) or takes away (-1); NOWHERE carries nothing. */
  add(candidate: number, amounts: readonly number[], sign: 1 | -1): void;
  loadOf(candidate: number): readonly number[];
  /** Load above a share of the capacity in one dimension; negative: what is missing up to there. */
  surplus(candidate: number, dimension: number, share: number): number;
  capacityOf(candidate: number): readonly number[];
  /** Utilisation in the fullest dimension with some more load, ppm. */
  shareWith(candidate: number, more: readonly number[]): number;
  /** Whether the instance with some more load is within a bound in every dimension. */
  fits(candidate: number, more: readonly number[], bound: number): boolean;
}

export const NOTHING: readonly number[] = LOAD_DIMENSIONS.map(() => 0);

export function openLedger(capacities: readonly (readonly number[])[]): Ledger {
  const capacity = Float64Array.from(capacities.flat());
  const load = new Float64Array(capacity.length);
  const slice = (from: Float64Array, candidate: number): readonly number[] => [
    ...from.subarray(candidate * WIDTH, candidate * WIDTH + WIDTH),
  ];
  return {
    add(candidate, amounts, sign) {
      if (candidate === NOWHERE) return;
      for (let d = 0; d < WIDTH; d += 1)
        load[candidate * WIDTH + d] = (load[candidate * WIDTH + d] as number) + sign * (amounts[d] as number);
    },
    surplus(candidate, dimension, share) {
      const at = candidate * WIDTH + dimension;
      return (load[at] as number) - Math.floor(((capacity[at] as number) * share) / WHOLE);
    },
    loadOf: (candidate) => slice(load, candidate),
    capacityOf: (candidate) => slice(capacity, candidate),
    shareWith(candidate, more) {
      let most = 0;
      for (let d = 0; d < WIDTH; d += 1) {
        const share = shareOf((load[candidate * WIDTH + d] as number) + (more[d] as number), capacity[candidate * WIDTH + d] as number);
        if (share > most) most = share;
      }
      return most;
    },
    fits(candidate, more, bound) {
      for (let d = 0; d < WIDTH; d += 1) {
        const at = candidate * WIDTH + d;
        if (((load[at] as number) + (more[d] as number)) * WHOLE > (capacity[at] as number) * bound) return false;
      }
      return true;
    },
  };
}
