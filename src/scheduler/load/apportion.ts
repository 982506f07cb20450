/**
 * Deals a whole number in proportion to weights, in whole numbers that add up to it (largest remainders; among equal ones the
 * earlier). If all weights are zero, so are all shares: what belongs to nobody is given to nobody.
 */
export function apportion(total: number, weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (sum <= 0) return weights.map(() => 0);
  const exact = weights.map((weight) => (total * weight) / sum);
  const whole = exact.map(Math.floor);
  const left = total - whole.reduce((a, b) => a + b, 0);
  const byRemainder = exact
    .map((value, index) => ({ index, rest: value - Math.floor(value) }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRemainder.slice(0, left)) whole[index] = (whole[index] as number) + 1;
  return whole;
}
