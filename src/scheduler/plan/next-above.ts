import type { Millis } from "../../domain/clock.ts";
import { openBook } from "./book.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "./planner-policy.ts";
import type { PlanSnapshot } from "./snapshot.ts";

/**
 * Since when each instance has been above the bound, from a snapshot that says since when it was thought to be. Asked with
 * every new set of samples: an instance that is back at the bound for one of them starts anew.
 */
export function nextAbove(snapshot: PlanSnapshot, policy: PlannerPolicy = DEFAULT_PLANNER_POLICY): ReadonlyMap<string, Millis> {
  const book = openBook(snapshot, policy);
  const above = book.seats.filter((_, seat) => book.share(seat) > book.limits.bound);
  return new Map(above.map(({ id, aboveSince }) => [id, aboveSince ?? snapshot.at]));
}
