import type { ApplicationId } from "../domain/ids.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import type { ObservedApplication } from "./parse-application.ts";
import { applicationOf } from "./parse-application.ts";
import { type ApplicationAction, planDeparture, planRelease } from "./plan-application.ts";

/** An Application made for an application that is not among those that belong on its instance. */
export interface Stray {
  readonly observed: ObservedApplication;
  readonly reason: "no-row" | "owned-elsewhere";
  /** True: nobody wants it any more, or its unit has moved away from it, and it may go, without touching what it deployed. */
  readonly isRemovable: boolean;
}

/** Where the unit of an application that belongs elsewhere rests. */
export type Home = Pick<PlacementUnit, "epoch" | "phase">;

/**
 * Rows that vanish by the dozen are a sign of a lost or restored database, not of users: beyond this many at once, strays
 * are only reported.
 */
const REMOVAL_LIMIT = 10;

/**
 * Judges what stands on an instance beside what belongs there. Only an Application whose row is gone for good, or whose
 * unit rests elsewhere under a newer epoch, may be removed, and only when an earlier look (`seenBefore`, by uid) had found the same: a
 * row may be on its way. Result sorted by name.
 */
export function judgeStrays(
  observed: readonly ObservedApplication[],
  rows: { readonly belonging: ReadonlySet<ApplicationId>; readonly existing: ReadonlyMap<ApplicationId, Home> },
  seenBefore: ReadonlySet<string>,
): readonly Stray[] {
  const strays = findStrays(observed, rows.belonging).map(
    (one) => ({ observed: one.observed, reason: rows.existing.has(one.id) ? "owned-elsewhere" : "no-row" }) as const,
  );
  const isPlausible = strays.filter((stray) => stray.reason === "no-row").length <= REMOVAL_LIMIT;
  const mayGo = ({ reason, observed: one }: (typeof strays)[number]): boolean => {
    const home = rows.existing.get(applicationOf(one) as ApplicationId);
    return reason === "no-row" ? isPlausible : home?.phase === "IDLE" && (one.epoch ?? 0) < home.epoch;
  };
  return strays
    .map(
      (stray): Stray => ({
        ...stray,
        isRemovable: mayGo(stray) && seenBefore.has(stray.observed.uid) && !stray.observed.isDeleting,
      }),
    )
    .sort((a, b) => (a.observed.at.name < b.observed.at.name ? -1 : 1));
}

/** Applications that say whom they were made for, but do not belong here; ones of other use, such as probes, say nothing. */
export function findStrays(
  observed: readonly ObservedApplication[],
  belonging: ReadonlySet<ApplicationId>,
): readonly { readonly id: ApplicationId; readonly observed: ObservedApplication }[] {
  return observed.flatMap((one) => {
    const id = applicationOf(one);
    return id === undefined || belonging.has(id) ? [] : [{ id, observed: one }];
  });
}

/** The next step that ends a stray. Only this very object: another of its name may be wanted by now. */
export function planStrayEnd({ reason, observed: { uid } }: Stray, now: ObservedApplication | undefined): ApplicationAction {
  const same = now?.uid === uid ? now : undefined;
  return reason === "no-row" ? planRelease(same) : planDeparture(same);
}
