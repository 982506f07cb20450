/**
 * The candidate that was probably meant by a misspelt word: the one with the fewest letters to change, if these are at most a
 * third of the word; differences of case, dashes and underscores count nothing. `undefined` when nothing is near.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const plain = simplify(word);
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distance(plain, simplify(candidate)) }))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  const [best] = ranked;
  return best !== undefined && best.distance <= Math.max(1, Math.floor(plain.length / 3)) ? best.candidate : undefined;
}

/** A word from a hostile document may be of any length, and the cost is the product of both. */
function simplify(word: string): string {
  return word.slice(0, 64).toLowerCase().replace(/[-_]/g, "");
}

/** Letters to add, drop or replace (Levenshtein), row by row. */
function distance(a: string, b: string): number {
  const first = Array.from({ length: b.length + 1 }, (_, index) => index);
  const last = [...a].reduce((row, letter, at) => {
    const next = [at + 1];
    for (const [index, other] of [...b].entries()) {
      next.push(Math.min((row[index] ?? 0) + (letter === other ? 0 : 1), (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    return next;
  }, first);
  return last[b.length] ?? 0;
}
