import type { ApplicationId, InstanceId } from "../domain/ids.ts";
import { ANNOTATION_HASH } from "../domain/names.ts";
import type { Deletion, PlacementUnit } from "../domain/workspace.ts";
import { unmark } from "./arrival.ts";
import { applicationOf, type ObservedApplication } from "./parse-application.ts";
import { type ApplicationAction, type ApplicationRequest, planDeparture, planLateCascade, planRelease } from "./plan-application.ts";

/** An Application made for an application that is not among those that belong on its instance. */
export interface Orphan {
  readonly observed: ObservedApplication;
  readonly reason: "no-row" | "owned-elsewhere";
  /** True: nobody wants it any more, or its unit has moved away from it, and it may go. */
  readonly isRemovable: boolean;
  /** What becomes of what it deployed: that goes with it only where a cascade had ended its application before, and stays otherwise. */
  readonly deletion: Exclude<Deletion, "none">;
}

/** An application that a cascade ended, and whose unit rests on this instance under that epoch. */
export interface Ended {
  readonly argoName: string;
  readonly unitEpoch: number;
}

/** What the rows say of the Applications that stand on an instance. */
export interface RowsOfOrphans {
  /** The instance they stand on. */
  readonly instance: InstanceId;
  readonly belonging: ReadonlySet<ApplicationId>;
  /** Of those that do not belong there. */
  readonly existing: ReadonlyMap<ApplicationId, UnitOwner>;
  /** Of those that have no row. */
  readonly ended: ReadonlyMap<ApplicationId, Ended>;
}

/** Where the unit of an application that belongs elsewhere rests. */
export type UnitOwner = Pick<PlacementUnit, "owner" | "epoch" | "phase">;

/**
 * Rows that vanish by the dozen are a sign of a lost or restored database, not of users: beyond this many at once, strays
 * are only reported.
 */
const REMOVAL_LIMIT = 10;

/**
 * Judges what stands on an instance beside what belongs there. Only an Application whose row is gone for good, or whose
 * unit rests elsewhere under no older epoch, may be removed, and only when an earlier look (`seenBefore`, by uid) had found the same: a
 * row may be on its way. A move gave its source's its own epoch before the unit came to rest elsewhere under that: what a source that went
 * after the change of owner was left with, nobody else takes away. Result sorted by name.
 *
 * A creation that was long on its way may land when a cascade has ended the application, and what it deploys would stay for ever: so it
 * goes with the same cascade. That takes the very name under which the application stood and an epoch that its unit, which rests here,
 * has reached: what is labelled like it by hand, or what a set-back database does not know of, is left to be released.
 */
export function judgeOrphans(
  observed: readonly ObservedApplication[],
  rows: RowsOfOrphans,
  seenBefore: ReadonlySet<string>,
): readonly Orphan[] {
  const orphans = findOrphans(observed, rows.belonging).map(
    (one) => ({ observed: one.observed, reason: rows.existing.has(one.id) ? "owned-elsewhere" : "no-row" }) as const,
  );
  const isPlausible = orphans.filter((orphan) => orphan.reason === "no-row").length <= REMOVAL_LIMIT;
  const mayGo = ({ reason, observed: one }: (typeof orphans)[number]): boolean => {
    const unitOwner = rows.existing.get(applicationOf(one) as ApplicationId);
    return reason === "no-row"
      ? isPlausible
      : unitOwner?.phase === "IDLE" && unitOwner.owner !== rows.instance && (one.epoch ?? 0) <= unitOwner.epoch;
  };
  return orphans
    .map(
      (orphan): Orphan => ({
        ...orphan,
        deletion: orphan.reason === "no-row" && isLate(orphan.observed, rows) ? "cascade" : "orphan",
        isRemovable: mayGo(orphan) && seenBefore.has(orphan.observed.uid) && !isEnding(orphan.observed),
      }),
    )
    .sort((a, b) => (a.observed.at.name < b.observed.at.name ? -1 : 1));
}

/** By itself: Argo CD ends nothing that is paused, as the copies of a move are, and somebody may have deleted one by hand. */
function isEnding(observed: ObservedApplication): boolean {
  return observed.isDeleting && unmark(observed).length === 0;
}

function isLate(observed: ObservedApplication, { ended }: RowsOfOrphans): boolean {
  const one = ended.get(applicationOf(observed) as ApplicationId);
  return one?.argoName === observed.at.name && observed.epoch !== undefined && observed.epoch <= one.unitEpoch;
}

/** Applications that say whom they were made for, but do not belong here; ones of other use, such as probes, say nothing. */
export function findOrphans(
  observed: readonly ObservedApplication[],
  belonging: ReadonlySet<ApplicationId>,
): readonly { readonly id: ApplicationId; readonly observed: ObservedApplication }[] {
  return observed.flatMap((one) => {
    const id = applicationOf(one);
    return id === undefined || belonging.has(id) ? [] : [{ id, observed: one }];
  });
}

/** The next step that ends a stray. Only this very object: another of its name may be wanted by now. */
export function planOrphanEnd(
  { reason, deletion, observed: { uid } }: Orphan,
  request: ApplicationRequest,
  now: ObservedApplication | undefined,
): ApplicationAction {
  const same = now?.uid === uid ? now : undefined;
  if (deletion === "cascade") return planLateCascade(request, same);
  return reason === "no-row" ? planRelease(same) : planDeparture(same);
}

/**
 * Tells from little whether an Application deserves a full comparison with its row: it is missing, on its way out, written
 * under another epoch than the row's, or not what it says it was written as. `undefined`: nothing speaks for it.
 */
export function whyRevisit(
  row: { readonly epoch: number },
  observed: ObservedApplication | undefined,
): "missing" | "deleting" | "epoch" | "edited" | undefined {
  if (observed === undefined) return "missing";
  if (observed.isDeleting) return "deleting";
  if (observed.epoch !== row.epoch) return "epoch";
  return observed.annotations[ANNOTATION_HASH] === observed.contentHash ? undefined : "edited";
}
