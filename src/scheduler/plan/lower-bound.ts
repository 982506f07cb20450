import type { Millis } from "../../domain/clock.ts";
import type { Resumable } from "../../domain/resumable.ts";
import { WHOLE } from "../policy.ts";
import type { AffinityGroup } from "./affinity-groups.ts";
import type { Book } from "./book.ts";
import { fewestFor } from "./cover.ts";
import { persistenceOf } from "./limits.ts";
import type { PlannerPolicy } from "./planner-policy.ts";

/** The least load, and the fewest units, that any plan must move so that no instance is above the bound and every unit is where it may be. */
export interface LowerBound {
  /** In the scarce dimension: to bring every instance back to the bound. */
  readonly load: number;
  /** The same, with every instance that sheds brought down to `shedTo`. The difference is what the gap between the two bounds costs. */
  readonly toTarget: number;
  readonly moves: number;
}

export interface Moment {
  readonly at: Millis;
  readonly policy: PlannerPolicy;
}

/**
 * Calculated for the fleet as the snapshot has it. Forced units move in any case, and what overfull instances must give is added. What
 * new instances must get may be these same moves, so the larger of the two counts. A new instance that is cordoned gets nothing.
 */
export function* lowerBoundInTurns(book: Book, forced: readonly AffinityGroup[], { at, policy }: Moment): Resumable<LowerBound> {
  const { fillShort } = policy;
  const { scarce, bound, shedTo, mean } = book.limits;
  const isForced = new Set(forced);
  const goal = Math.floor((mean * (WHOLE - fillShort)) / WHOLE);
  let [given, shed, got] = [0, 0, 0];
  let moves = forced.reduce((sum, { units }) => sum + units.length, 0);
  for (const [candidate, { state, isFilling, isOverloaded, aboveSince }] of book.candidates.entries()) {
    yield;
    if (state !== "ACTIVE" && state !== "CORDONED") continue;
    const excess = book.surplus(candidate, scarce, bound);
    if (excess > 0) {
      const staying = book.groupsOn(candidate).filter((group) => !isForced.has(group));
      given += excess;
      if (isOverloaded || (aboveSince !== undefined && at - aboveSince >= persistenceOf(book.share(candidate), book.limits, policy)))
        shed += book.surplus(candidate, scarce, shedTo);
      moves += fewestFor(
        staying.map((group) => group.load[scarce] as number).sort((a, b) => a - b),
        excess,
      );
    }
    if (isFilling && state === "ACTIVE") got += Math.max(0, -book.surplus(candidate, scarce, goal));
  }
  const load = forced.reduce((sum, group) => sum + (group.load[scarce] as number), 0);
  return { load: Math.max(load + given, got), toTarget: Math.max(load + shed, got), moves };
}
