import type { Millis } from "../domain/clock.ts";
import { ANNOTATION_EPOCH } from "../domain/names.ts";
import type { Application, Deletion } from "../domain/workspace.ts";
import { letLoose, unmark } from "./arrival.ts";
import { stopOutdated } from "./automated-sync.ts";
import type { ObjectAction, PatchOperation } from "./diff-object.ts";
import { diffObject, escapePointer, guards, mapChanges, newerFence, planRemoval } from "./diff-object.ts";
import { forgetFailure, forgetStopped, isBeingStopped } from "./following.ts";
import type { DesiredObject, Fence } from "./managed-object.ts";
import { ANNOTATION_POKE, ANNOTATION_REFRESH, ANNOTATION_REVISION } from "./names.ts";
import { type ObservedApplication, unitOf } from "./parse-application.ts";
import { calm, restlessnessOf } from "./restlessness.ts";

/** Makes Argo CD delete what the application deployed, in the background, before its Application goes. */
export const CASCADE_FINALIZER = "resources-finalizer.argocd.argoproj.io/background";
/** Any form of it: bare, `/foreground` or `/background`. */
export const CASCADE_PREFIX = "resources-finalizer.argocd.argoproj.io";

export type ApplicationAction = ObjectAction<ObservedApplication>;

/**
 * Decides the next step that brings an Application to what its row says.
 *
 * A wanted one is created, or patched under tests of uid, resourceVersion and epoch. One that is to follow Git by itself does so
 * once a sync that is being stopped has ended. A sync of its own that cannot bring about what is wanted is ended, and forgotten once it has
 * ended. One that is being deleted although it is wanted was deleted by hand: it loses the cascade finalizer, so that the workloads stay,
 * and is made anew once gone.
 *
 * An unwanted one gets the cascade finalizer (unless its workloads are to stay). It is deleted, under preconditions, once it is at rest or
 * the timeout for that is over.
 */
export function planApplication(
  desired: DesiredObject,
  request: ApplicationRequest,
  observed: ObservedApplication | undefined,
): ApplicationAction {
  if (request.deletion === "none") return planPresence(desired, observed);
  // The finalizer cannot be added to what is already being deleted, but it can be taken off.
  return request.deletion === "cascade" ? planCascade(desired, request, observed) : planOrphaning(desired, observed);
}

/** What is to become of an Application. */
export interface ApplicationRequest {
  readonly deletion: Deletion;
  readonly now: Millis;
  /** Whether a cascade may still wait until nothing is under way in it. */
  readonly mayWait: boolean;
}

/** What is to become of the application's deployed objects; `none` only where its row is not marked as deleted. */
export function deletionOf(application: Pick<Application, "deletion" | "deletedAt">): Deletion {
  if (application.deletedAt === undefined) return "none";
  // A row marked as deleted without saying how: leaving the workloads running destroys nothing.
  return application.deletion === "none" ? "orphan" : application.deletion;
}

/**
 * Decides the next step that takes an Application off its instance although its row stays: there is nowhere it could deploy to.
 * What it deployed stays, whatever its row wants. One that newer rows were written to is left alone.
 */
export function planAbsence(fence: Fence, deletion: Deletion, observed: ObservedApplication | undefined): ApplicationAction {
  const ours = deletion === "none" ? fence : markFence(fence);
  const newer = observed === undefined ? undefined : newerFence(ours, observed);
  return newer === undefined ? planRelease(observed) : { kind: "fenced", by: newer };
}

/** Decides the next step that ends an Application which belongs to nobody; what it deployed stays. */
export function planRelease(observed: ObservedApplication | undefined): ApplicationAction {
  const uncascade = observed === undefined ? [] : setFinalizers(observed, withoutCascade(observed));
  return observed !== undefined && uncascade.length > 0 ? change(observed, uncascade) : planRemoval(observed);
}

/**
 * Decides the next step that ends an Application which was created after a cascade had ended what it stands for: what it deployed since
 * goes with it, once it is at rest, as with any cascade.
 */
export function planLateCascade(request: ApplicationRequest, observed: ObservedApplication | undefined): ApplicationAction {
  return cascade(request, observed, (one) => (hasCascade(one) ? [] : outdo(one)));
}

/**
 * Decides the next step that ends an Application on an instance that its unit has left: whatever finalizer it has goes first, for nothing
 * that Argo CD does at an end is due there.
 */
export function planDeparture(observed: ObservedApplication | undefined): ApplicationAction {
  const strip = observed === undefined ? [] : setFinalizers(observed, []);
  return observed !== undefined && strip.length > 0 ? change(observed, strip) : planRemoval(observed);
}

function planPresence(desired: DesiredObject, observed: ObservedApplication | undefined): ApplicationAction {
  const action = diffObject(desired, observed);
  if (observed === undefined || action.kind === "fenced") return action;
  const uncascade = setFinalizers(observed, withoutCascade(observed));
  if (action.kind === "await-end") return uncascade.length > 0 ? change(observed, uncascade) : action;
  if (isBeingStopped(desired, observed)) return awaitStop(observed, uncascade);
  const poke = refresh(desired, observed);
  const isChange = poke.length > 0 || (action.kind === "change" && action.why.includes("content"));
  const redo = [...forgetFailure(desired, observed), ...forgetStopped(desired, observed), ...stopOutdated(desired, observed, isChange)];
  const repairs = [...uncascade, ...letLoose(observed), ...redo];
  if (action.kind === "change") return { ...action, patch: [...action.patch, ...repairs, ...poke] };
  return repairs.length === 0 ? action : change(observed, repairs);
}

/** What is paused does not end. */
function awaitStop(observed: ObservedApplication, uncascade: readonly PatchOperation[]): ApplicationAction {
  const marks = [...uncascade, ...unmark(observed)];
  return marks.length > 0 ? change(observed, marks) : { kind: "await-rest", observed };
}

/** A poke that was not passed on yet becomes Argo CD's own request to read Git again. */
function refresh(desired: DesiredObject, observed: ObservedApplication): readonly PatchOperation[] {
  const poke = desired.annotations[ANNOTATION_POKE];
  if (poke === undefined || poke === observed.annotations[ANNOTATION_POKE]) return [];
  return [{ op: "add", path: `/metadata/annotations/${escapePointer(ANNOTATION_REFRESH)}`, value: "normal" }];
}

function planOrphaning(desired: DesiredObject, observed: ObservedApplication | undefined): ApplicationAction {
  return fencedOff(desired, observed) ?? planRelease(observed);
}

function planCascade(desired: DesiredObject, request: ApplicationRequest, observed: ObservedApplication | undefined): ApplicationAction {
  return fencedOff(desired, observed) ?? cascade(request, observed, (one) => mark(desired, markFence(desired.fence), one));
}

/** `marksOf`: by which writers that decided before see that they are late. */
function cascade(
  { now, mayWait }: ApplicationRequest,
  observed: ObservedApplication | undefined,
  marksOf: (observed: ObservedApplication) => readonly PatchOperation[],
): ApplicationAction {
  if (observed === undefined) return { kind: "gone" };
  if (observed.isDeleting) return endingUnpaused(observed);
  const restlessness = mayWait ? restlessnessOf(observed, now) : undefined;
  const calming = restlessness === undefined ? [] : calm(observed, restlessness);
  const marks = [...setFinalizers(observed, withCascade(observed)), ...unmark(observed), ...marksOf(observed), ...calming];
  if (marks.length > 0) return change(observed, marks);
  return restlessness === undefined ? planRemoval(observed) : { kind: "await-rest", observed };
}

/** Argo CD ends nothing that is paused. */
function endingUnpaused(observed: ObservedApplication): ApplicationAction {
  const marks = unmark(observed);
  return marks.length > 0 ? change(observed, marks) : { kind: "await-end", observed };
}

function fencedOff(desired: DesiredObject, observed: ObservedApplication | undefined): ApplicationAction | undefined {
  const newer = observed === undefined ? undefined : newerFence(markFence(desired.fence), observed);
  return newer === undefined ? undefined : { kind: "fenced", by: newer };
}

/**
 * A deletion is final, so it counts as one revision more than the row it was decided from: a writer that read the row before
 * it was marked finds itself late, instead of taking the marked Application for a wanted one with a leftover finalizer.
 */
function markFence(fence: Fence | undefined): Fence | undefined {
  return fence === undefined ? undefined : { epoch: fence.epoch, revision: fence.revision + 1 };
}

/**
 * The mark itself, and the labels by which the watch shows the end. One that has passed to another unit since it was written ends as that unit's: the
 * project of the other one goes as soon as no Application is labelled with it, and Argo CD ends nothing whose project is gone.
 */
function mark(desired: DesiredObject, fence: Fence | undefined, observed: ObservedApplication): readonly PatchOperation[] {
  const annotations = fence === undefined ? {} : { [ANNOTATION_EPOCH]: String(fence.epoch), [ANNOTATION_REVISION]: String(fence.revision) };
  return [
    ...mapChanges("labels", observed.labels, desired.labels),
    ...mapChanges("annotations", observed.annotations, annotations),
    ...(unitOf(observed) === unitOf(desired) ? [] : [projectOf(desired)]),
  ];
}

function projectOf({ content }: DesiredObject): PatchOperation {
  return { op: "add", path: "/spec/project", value: (content["spec"] as { readonly project: string }).project };
}

/** One revision more than whoever created it had read, as with any deletion. */
function outdo({ annotations, revision = 0 }: ObservedApplication): readonly PatchOperation[] {
  return mapChanges("annotations", annotations, { [ANNOTATION_REVISION]: String(revision + 1) });
}

function change(observed: ObservedApplication, patch: readonly PatchOperation[]): ApplicationAction {
  return { kind: "change", at: observed.at, patch: [...guards(observed), ...patch], why: ["finalizers"] };
}

function hasCascade(observed: ObservedApplication): boolean {
  return observed.finalizers.some(isCascadeFinalizer);
}

function withCascade(observed: ObservedApplication): readonly string[] {
  return hasCascade(observed) ? observed.finalizers : [...observed.finalizers, CASCADE_FINALIZER];
}

function withoutCascade(observed: ObservedApplication): readonly string[] {
  return observed.finalizers.filter((finalizer) => !isCascadeFinalizer(finalizer));
}

function isCascadeFinalizer(finalizer: string): boolean {
  return finalizer === CASCADE_PREFIX || finalizer.startsWith(`${CASCADE_PREFIX}/`);
}

function setFinalizers(observed: ObservedApplication, finalizers: readonly string[]): readonly PatchOperation[] {
  return finalizers.length === observed.finalizers.length ? [] : [{ op: "add", path: "/metadata/finalizers", value: finalizers }];
}
