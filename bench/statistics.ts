/**
 * The value below which this share (0 to 1) of the samples lies, by nearest rank, so that it is always one of them.
 * `NaN` without samples.
 */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = samples.toSorted((a, b) => a - b);
  const rank = Math.min(Math.max(Math.ceil(share * sorted.length), 1), sorted.length);
  return sorted[rank - 1] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[middle - 1] ?? Number.NaN, sorted[middle] ?? Number.NaN];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}

/**
 * How much the figure would differ in another run, as a share of it: the standard error of the median of its repeats.
 * It is estimated from their median absolute deviation, which one disturbed repeat does not change. The factors
 * belong to the normal distribution: 1.4826 turns that into a standard deviation, 1.2533 turns the error of a mean
 * into that of a median. 0 for a single repeat.
 */
export function noiseOf(repeats: readonly number[]): number {
  const middle = median(repeats);
  if (repeats.length < 2 || middle === 0 || Number.isNaN(middle)) return 0;
  const deviation = 1.4826 * median(repeats.map((value) => Math.abs(value - middle)));
  return Math.abs((1.2533 * deviation) / Math.sqrt(repeats.length) / middle);
}

/** Cuts samples into consecutive groups of nearly equal size: the repeats of a measurement that ran in one piece. */
export function blocksOf<T>(samples: readonly T[], count: number): readonly (readonly T[])[] {
  const blocks = Array.from({ length: count }, (_, index) =>
    samples.slice(Math.floor((index * samples.length) / count), Math.floor(((index + 1) * samples.length) / count)),
  );
  return blocks.filter((block) => block.length > 0);
}
