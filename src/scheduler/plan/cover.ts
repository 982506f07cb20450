export interface CoverTerms {
  /** What each member costs besides its amount. */
  readonly fixedCost: number;
  /** How many may be taken; at least what `fewestFor` says. Absent: any number. */
  readonly most?: number;
}

/**
 * Chooses what leaves an instance that is too full: a subset of `amounts` whose sum is at least `excess`, cheap in
 * Σ amount + `fixedCost` × count, and of `most` members at most.
 *
 * Takes the largest amount below what remains, again and again. At every step it also tries two ways to finish: the smallest single
 * amount that suffices, and the cheapest pair that does. The cheapest finish wins. An exact answer is a knapsack problem; this one is
 * within a few per cent of it and reads each amount only a few times (`cover.test.ts` compares it with every subset).
 *
 * `amounts` are sorted, smallest first; the answer is their indexes, largest first. When all of them do not suffice: all.
 */
export function cover(
  amounts: readonly number[],
  excess: number,
  { fixedCost, most = Number.POSITIVE_INFINITY }: CoverTerms,
): readonly number[] {
  let best: Cover | undefined;
  const taken: number[] = [];
  let sum = 0;
  // No index below `end` is taken: each amount that is taken is smaller than the one before.
  let end = amounts.length;
  while (taken.length < most && (best === undefined || sum + fixedCost * taken.length < best.cost)) {
    const remaining = excess - sum;
    best = cheaper(best, single(amounts, end, remaining), { taken, sum, amounts, fixedCost });
    if (taken.length + 2 <= most) best = cheaper(best, pair(amounts, end, remaining), { taken, sum, amounts, fixedCost });
    const next = firstAtLeast(amounts, end, remaining) - 1;
    if (next < 0) break;
    taken.push(next);
    sum += amounts[next] as number;
    end = next;
  }
  return best?.indexes ?? fewest(amounts, excess);
}

/** How many of the largest amounts, which are sorted smallest first, add up to the excess; all of them when they do not. */
export function fewestFor(amounts: readonly number[], excess: number): number {
  let sum = 0;
  let index = amounts.length;
  while (index > 0 && sum < excess) {
    index -= 1;
    sum += amounts[index] as number;
  }
  return amounts.length - index;
}

/** The fewest that suffice: the largest, and last the smallest that is enough with them. All when all do not suffice. */
function fewest(amounts: readonly number[], excess: number): readonly number[] {
  if (amounts.length === 0) return [];
  const end = amounts.length - fewestFor(amounts, excess) + 1;
  const largest = amounts
    .map((_, index) => index)
    .slice(end)
    .reverse();
  const remaining = largest.reduce((rest, index) => rest - (amounts[index] as number), excess);
  return [...largest, ...(single(amounts, end, remaining) ?? [0])];
}

interface Cover {
  readonly indexes: readonly number[];
  readonly cost: number;
}

interface CoverSoFar {
  readonly taken: readonly number[];
  readonly sum: number;
  readonly amounts: readonly number[];
  readonly fixedCost: number;
}

function cheaper(
  best: Cover | undefined,
  last: readonly number[] | undefined,
  { taken, sum, amounts, fixedCost }: CoverSoFar,
): Cover | undefined {
  if (last === undefined) return best;
  const cost = last.reduce((total, index) => total + (amounts[index] as number) + fixedCost, sum + fixedCost * taken.length);
  return best !== undefined && best.cost <= cost ? best : { indexes: [...taken, ...last], cost };
}

/** The smallest amount below `end` that is at least `wanted`. */
function single(amounts: readonly number[], end: number, wanted: number): readonly number[] | undefined {
  const index = firstAtLeast(amounts, end, wanted);
  return index < end ? [index] : undefined;
}

/** The two amounts below `end` with the smallest sum that is at least `wanted`. */
function pair(amounts: readonly number[], end: number, wanted: number): readonly number[] | undefined {
  let best: readonly number[] | undefined;
  let least = Number.POSITIVE_INFINITY;
  let low = 0;
  let high = end - 1;
  while (low < high) {
    const sum = (amounts[low] as number) + (amounts[high] as number);
    if (sum < wanted) low += 1;
    else {
      if (sum < least) [best, least] = [[high, low], sum];
      high -= 1;
    }
  }
  return best;
}

/** The first index below `end` whose amount is at least `wanted`; `end` when there is none. */
function firstAtLeast(amounts: readonly number[], end: number, wanted: number): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((amounts[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
