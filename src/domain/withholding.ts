import { type Millis, millis } from "./clock.ts";
import { OBJECTS_PER_API } from "./controller-memory.ts";

/** What an instance caches of one cluster entry. */
export interface EntryWeight {
  readonly objects: number;
  /** APIs that it watches. */
  readonly apis: number;
}

/** That an environment is kept from instances, because caching it took more than one environment may. */
export interface Withholding extends EntryWeight {
  /** What it was held against: objects, with each API counted as {@link OBJECTS_PER_API}. */
  readonly budget: number;
  readonly at: Millis;
  /** A change by its user ends it from then on. */
  readonly changeFrom: Millis;
  /** It ends by itself. */
  readonly until: Millis;
  /** How often in a row. */
  readonly times: number;
  /** Absent: it goes on. */
  readonly endedAt?: Millis;
}

/**
 * When an environment is tried again, in ms: after a change soon, without one later, twice as late each time, so that trying costs an
 * instance little. Never later than four hours: an account's token, which is not replaced meanwhile, is good for that long.
 */
const AGAIN = { changed: { first: 5 * 60_000, latest: 60 * 60_000 }, unchanged: { first: 60 * 60_000, latest: 4 * 60 * 60_000 } };
/** What was within its budget for so long begins anew. In ms. */
const FORGOTTEN_AFTER_MS = 24 * 60 * 60_000;

/** What an entry counts against its budget, in objects. */
export function weightInObjects({ objects, apis }: EntryWeight): number {
  return objects + apis * OBJECTS_PER_API;
}

/** The withholding of an environment that was seen beyond its budget; `before`: the last one. */
export function nextWithholding(
  before: Withholding | undefined,
  { weight, budget, now }: { readonly weight: EntryWeight; readonly budget: number; readonly now: Millis },
): Withholding {
  const isInRow = before !== undefined && now - (before.endedAt ?? now) < FORGOTTEN_AFTER_MS;
  const times = isInRow ? before.times + 1 : 1;
  const later = ({ first, latest }: { readonly first: number; readonly latest: number }) =>
    millis(now + Math.min(latest, first * 2 ** Math.min(times - 1, 20)));
  const { objects, apis } = weight;
  return { objects, apis, budget, at: now, changeFrom: later(AGAIN.changed), until: later(AGAIN.unchanged), times };
}

/** Whether the environment is withheld: it was, and nobody has ended it. */
export function isWithheld(withholding: Withholding | undefined): withholding is Withholding {
  return withholding !== undefined && withholding.endedAt === undefined;
}

/** What may end a withholding. */
export interface WithholdingFacts {
  readonly now: Millis;
  /** Whether the environment's user has changed the resource or the credential since. */
  readonly isChanged: boolean;
  /** The budget as it is now; absent: none is declared. */
  readonly budget?: number | undefined;
}

/** Whether it is over: by its time, sooner after a change, and at once where what was measured is within the budget by now. */
export function isWithholdingOver(withholding: Withholding, { now, isChanged, budget }: WithholdingFacts): boolean {
  const { changeFrom, until } = withholding;
  return now >= until || (isChanged && now >= changeFrom) || (budget !== undefined && weightInObjects(withholding) <= budget);
}

/** What was measured, in words. */
export function weightText({ objects, apis, budget }: Withholding): string {
  const counts = weightInObjects({ objects, apis });
  return `an instance had to keep ${objects} objects of ${apis} APIs of it in memory, which counts as ${counts} objects, and one environment may take ${budget}`;
}
