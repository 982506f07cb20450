import type { UnitId } from "../domain/ids.ts";
import { placeOf } from "../domain/repository-spelling.ts";
import type { Filled } from "./quarantine/schema.ts";

/** A unit on an instance, and how many of its applications read each repository. */
export interface ReadingUnit {
  readonly unitId: UnitId;
  readonly repositories: Readonly<Record<string, number>>;
}

/** What each repository took of an instance's repo-servers lately: the seconds of its fetches, and the ends that it was under way at. */
export type Taken = Readonly<Record<Filled, ReadonlyMap<string, number>>>;

/**
 * The unit that fills the disk or the memory of an instance's repo-server. `share`: of the time that all fetches took, or of all ends.
 */
export interface Filler {
  readonly unitId: UnitId;
  readonly share: number;
}

/** The least share of all that was taken, whoever took it. */
const LEAST_SHARE = 0.5;
/** So many times as much as any other unit. */
const LEAST_RATIO = 3;
/**
 * Less than this is no evidence. `disk`: fetches that took so many seconds together; a Git host that hesitated once takes as long. `memory`:
 * more than one end; anybody's work may be under way at one.
 */
const LEAST: Readonly<Record<Filled, number>> = { disk: 10, memory: 1.1 };

/**
 * Finds the unit whose repositories took most of an instance's repo-servers: at least half of all, three times as much as any other unit, and
 * more than nothing would mean. `undefined`: nobody stands out like that, or it is alone.
 *
 * The disk is filled by what was fetched, in seconds. The memory is taken by what was under way when a process ended, in ends. What a
 * repository took is dealt to the units that read it, by how many of their applications do. What nobody here reads any more counts
 * for nobody, and as fetched all the same. Argo CD says nothing of bytes; the time of a fetch grows with them. Addresses are compared as
 * places, because an instance may have one by another spelling than its user's.
 */
export function fillerOf(units: readonly ReadingUnit[], taken: Taken, filled: Filled): Filler | undefined {
  const amounts = taken[filled];
  const all = [...amounts.values()].reduce((sum, each) => sum + each, 0);
  const dealt = deal(units, amounts).toSorted((a, b) => b.amount - a.amount || (a.unitId < b.unitId ? -1 : 1));
  const [first, second] = dealt;
  if (first === undefined || second === undefined) return undefined;
  const isEvidence = first.amount >= LEAST[filled] && first.amount >= LEAST_SHARE * all;
  return isEvidence && first.amount >= LEAST_RATIO * second.amount ? { unitId: first.unitId, share: first.amount / all } : undefined;
}

function deal(units: readonly ReadingUnit[], amounts: ReadonlyMap<string, number>) {
  const took = new Map<string, number>();
  for (const [url, each] of amounts) took.set(placeOf(url), (took.get(placeOf(url)) ?? 0) + each);
  const reading = units.map(({ unitId, repositories }) => ({ unitId, readers: byKey(repositories) }));
  const readers = new Map<string, number>();
  for (const unit of reading) for (const [key, count] of unit.readers) readers.set(key, (readers.get(key) ?? 0) + count);
  return reading.map((unit) => {
    const shares = [...unit.readers].map(([key, count]) => ((took.get(key) ?? 0) * count) / (readers.get(key) ?? 1));
    return { unitId: unit.unitId, amount: shares.reduce((sum, each) => sum + each, 0) };
  });
}

function byKey(repositories: ReadingUnit["repositories"]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [url, count] of Object.entries(repositories)) counts.set(placeOf(url), (counts.get(placeOf(url)) ?? 0) + count);
  return counts;
}
