/** What is known of how often a part of an instance's applications is compared. All counts are for the same length of time. */
export interface ComparedPart {
  readonly applications: number;
  /** How many repositories they read, and how often these were asked what their newest revision is. */
  readonly repositories: number;
  readonly gitRequests: number;
}

/** How often the interval is halved: enough for the precision of a number. */
const HALVINGS = 60;

/**
 * Deals a number of comparisons, of which controllers count only the sum, to the parts whose applications were compared.
 *
 * Every application is compared regularly, at a pace that all have in common. A comparison beyond that (after a push, a refresh or a
 * sync) asks Git first. Of the regular ones either each asks Git too, or one for each repository does and the others use its answer. So
 * a part has `pace × applications` comparisons, and as many more as its requests exceed `pace × repositories`. The pace is the one at
 * which all parts together have what was counted. If Git was asked more often than anything was compared, the requests alone decide.
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
