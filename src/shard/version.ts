/**
 * Whether resourceVersion `a` is later than `b`. API servers promise since 1.35 that they are whole numbers that grow, and
 * have kept to it before; where they are not numbers, the one that arrived (`a`) counts as later.
 */
export function isNewerVersion(a: string, b: string): boolean {
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return a !== b;
  return BigInt(a) > BigInt(b);
}
