/** What is known of how often a part of an instance's applications is compared. Rates are all of the same length of time. */
export interface ComparedPart {
  readonly applications: number;
  /** How many repositories they read, and how often these were asked what their newest revision is. */
  readonly repositories: number;
  readonly gitRequests: number;
}

/** Halvings of an interval: as exact as numbers are. */
const HALVINGS = 60;

/**
 * Deals a number of comparisons, which controllers count for all together, to those whose applications were compared.
 *
 * Every application is compared again and again at a pace all have in common; what is compared beyond that (somebody pushed, poked or
 * synced) asks Git first. Of those that follow the common pace either each asks too, or one for each repository and the others take
 * its answer. So a part has `pace × applications` comparisons, and as many more as its requests exceed `pace × repositories`; the pace
 * is the one at which all parts together have what was counted. Where Git was asked more often than anything was compared the requests
 * alone say who it was.
 */
export function dealComparisons(total: number, parts: readonly ComparedPart[]): readonly number[] {
  const at = (pace: number): readonly number[] =>
    parts.map(({ applications, repositories, gitRequests }) => pace * applications + Math.max(0, gitRequests - pace * repositories));
  const requests = sumOf(at(0));
  if (requests >= total) return requests === 0 ? parts.map(() => 0) : at(0).map((own) => (own * total) / requests);
  let [low, high] = [0, total / Math.max(1, sumOf(parts.map(({ applications }) => applications)))];
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (low + high) / 2;
    if (sumOf(at(middle)) < total) low = middle;
    else high = middle;
  }
  return at(high);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
