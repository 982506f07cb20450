/** A number of things in words: `1 move`, `2 moves`. The noun is one that takes an s. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
