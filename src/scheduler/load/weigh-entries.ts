import type { EnvironmentId } from "../../domain/ids.ts";
import { type EntryWeight, weightInObjects } from "../../domain/withholding.ts";
import type { PageSums } from "./metrics-page.ts";

/** How often in a row an environment's entry was seen beyond the budget on one instance. */
export interface HeavyEntry extends EntryWeight {
  readonly windows: number;
  /** When the controller began that showed it last; another one may not have read all of it yet. */
  readonly startedAt: number | undefined;
}

export type HeavyEntries = ReadonlyMap<EnvironmentId, HeavyEntry>;

/** So many windows make an excess: a cache that is read anew, or a cluster that is being tidied up, passes. */
const WINDOWS_TO_WITHHOLD = 3;

export interface EntriesSeen {
  readonly sums: Pick<PageSums, "startedAt" | "entryObjects" | "entryApis">;
  readonly environmentOf: (server: string) => EnvironmentId | undefined;
  readonly budget: number;
}

/**
 * Counts the entries that are beyond the budget on one instance, by one more page of its metrics. One that is within it is forgotten, but for
 * the first page of a controller that has just begun: an entry that ends its controller again and again would never be counted otherwise. A
 * page that was not to be had changes nothing.
 */
export function nextHeavyEntries(before: HeavyEntries, { sums, environmentOf, budget }: EntriesSeen): HeavyEntries {
  const { startedAt, entryObjects, entryApis } = sums;
  const next = new Map<EnvironmentId, HeavyEntry>();
  const weights = new Map<EnvironmentId, EntryWeight>();
  for (const server of new Set([...entryObjects.keys(), ...entryApis.keys()])) {
    const id = environmentOf(server);
    if (id !== undefined) weights.set(id, { objects: entryObjects.get(server) ?? 0, apis: entryApis.get(server) ?? 0 });
  }
  for (const [id, weight] of weights)
    if (weightInObjects(weight) > budget) next.set(id, { ...weight, windows: (before.get(id)?.windows ?? 0) + 1, startedAt });
  for (const [id, known] of before) if (!next.has(id) && known.startedAt !== startedAt) next.set(id, { ...known, startedAt });
  return next;
}

/** Those that are to be withheld, sorted by id. */
export function excessiveEntries(heavy: HeavyEntries): readonly (EntryWeight & { readonly id: EnvironmentId })[] {
  return [...heavy]
    .filter(([, { windows }]) => windows >= WINDOWS_TO_WITHHOLD)
    .map(([id, { objects, apis }]) => ({ id, objects, apis }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}
