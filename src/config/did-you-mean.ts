/**
 * The candidate that was probably meant by a misspelt word: the one with the fewest letters to change, if these are at most a
 * third of the word; differences of case, dashes and underscores count nothing. `undefined` when nothing is near.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const plain = simplify(word);
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of [...candidates].sort()) {
    const distance = editDistance(plain, simplify(candidate));
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  return best !== undefined && best.distance <= Math.max(1, Math.floor(plain.length / 3)) ? best.candidate : undefined;
}

// A word from a hostile document may be of any length; a name of ours is not, and the cost is the product of both.
function simplify(word: string): string {
  return word.slice(0, 64).toLowerCase().replace(/[-_]/g, "");
}

/** Letters to add, drop or replace (Levenshtein), with one row of the table kept at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
