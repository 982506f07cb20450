import { asObject } from "../domain/json.ts";
import { escapePointer, type PatchOperation } from "./diff-object.ts";
import type { DesiredObject } from "./managed-object.ts";
import { ANNOTATION_ARRIVING, ANNOTATION_STOPPED } from "./names.ts";
import type { ObservedApplication } from "./parse-application.ts";
import { orderOf } from "./parse-automated-sync.ts";
import { TERMINATE } from "./restlessness.ts";

type Synced = Pick<ObservedApplication, "annotations" | "automatedSync" | "isAutomated" | "isDeleting" | "sync">;

/**
 * Ends an automated sync that cannot bring about what is wanted: one that was begun with another source or other options, and one that
 * waits for its next attempt where that would come too late or not at all. Argo CD tries such a one again for ever, and begins no other
 * meanwhile. One that is under way as it should be is let be. `isChange`: the same step gives Argo CD a new spec, or asks it to look at Git.
 *
 * The mark says which sync is to end: Argo CD may write over the wish (`setOperationState` of its application controller), and what ended
 * like this has to be forgotten.
 */
export function stopOutdated(desired: DesiredObject, observed: Synced, isChange: boolean): readonly PatchOperation[] {
  const { annotations, automatedSync } = observed;
  if (automatedSync === undefined || !isRunning(observed) || annotations[ANNOTATION_ARRIVING] !== undefined) return [];
  const spec = asObject(desired.content["spec"]);
  const isOutdated = automatedSync.begunWith !== orderOf(spec);
  const isInTheWay = isChange || asObject(spec["syncPolicy"])["automated"] === undefined || isMarked(observed);
  if (!isOutdated && !(isInTheWay && isWaiting(observed))) return [];
  return [...(isMarked(observed) ? [] : [{ op: "add", path: MARK, value: automatedSync.startedAt } as const]), TERMINATE];
}

const MARK = `/metadata/annotations/${escapePointer(ANNOTATION_STOPPED)}`;

/** A sync that was ended because it could not bring about what is wanted: Argo CD would take it for an attempt at that, and try no other. */
export function isStoppedSync(observed: Pick<Synced, "annotations" | "automatedSync" | "sync">): boolean {
  const { operation, state } = observed.sync;
  return operation === undefined && (state?.phase === "Failed" || state?.phase === "Error") && isMarked(observed);
}

export const UNMARK_STOPPED: PatchOperation = { op: "remove", path: MARK };

/** Whether there is something to do about an automated sync as far as the Application itself tells: it has to end, or to be forgotten. */
export function isSyncDue(observed: Synced): boolean {
  if (observed.isDeleting || observed.automatedSync === undefined) return false;
  if (!isRunning(observed)) return observed.isAutomated && isStoppedSync(observed);
  return observed.automatedSync.isOutdated || (isWaiting(observed) && (!observed.isAutomated || isMarked(observed)));
}

function isMarked({ annotations, automatedSync }: Pick<Synced, "annotations" | "automatedSync">): boolean {
  return automatedSync !== undefined && annotations[ANNOTATION_STOPPED] === automatedSync.startedAt;
}

/** Without an operation nobody goes on with it, and the wish to end it would stand for ever. */
function isRunning({ sync: { operation, state } }: Pick<Synced, "sync">): boolean {
  return operation !== undefined && state?.phase === "Running";
}

/** It has failed, and waits for its next attempt. */
function isWaiting({ sync: { state } }: Pick<Synced, "sync">): boolean {
  return state?.finishedAt !== undefined;
}
