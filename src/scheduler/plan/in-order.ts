/** Rows by id; most come so, and then nothing is sorted. */
export function inOrder<Row extends { readonly id: string }>(rows: readonly Row[]): readonly Row[] {
  const isSorted = rows.every((row, index) => index === 0 || (rows[index - 1] as Row).id < row.id);
  return isSorted ? rows : [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
}
