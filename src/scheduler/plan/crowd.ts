import type { Bundle } from "./bundles.ts";

/** Which groups that live apart have members where. */
export interface Crowd {
  /** The bundle's members came to (1) or left (-1) the instances of `places`, one for one. */
  change(bundle: Bundle, places: readonly number[], sign: 1 | -1): void;
  /** Groups of the bundle that have a member on the instance other than its own, which are on `places`. */
  occupied(bundle: Bundle, seat: number, places: readonly number[]): readonly string[];
}

const NONE: readonly string[] = [];

export function crowdOf(): Crowd {
  /** By group and instance: how many bundles have members there. */
  const counts = new Map<string, Map<number, number>>();
  const countsOf = (group: string): Map<number, number> => {
    const known = counts.get(group) ?? new Map<number, number>();
    counts.set(group, known);
    return known;
  };
  return {
    change({ wish }, places, sign) {
      if (wish.apart.length === 0) return;
      for (const group of new Set(wish.apart)) {
        const each = countsOf(group);
        for (const seat of new Set(places)) each.set(seat, (each.get(seat) ?? 0) + sign);
      }
    },
    occupied({ wish }, seat, places) {
      if (wish.apart.length === 0) return NONE;
      const own = places.includes(seat) ? 1 : 0;
      return wish.apart.filter((group) => (counts.get(group)?.get(seat) ?? 0) > own);
    },
  };
}
