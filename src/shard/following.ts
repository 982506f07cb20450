import { asObject } from "../domain/json.ts";
import { FORGET_SYNC, OBSERVE_NOW } from "./arrival.ts";
import { isStoppedSync, UNMARK_STOPPED } from "./automated-sync.ts";
import type { PatchOperation } from "./diff-object.ts";
import type { DesiredObject } from "./managed-object.ts";
import { ANNOTATION_ARRIVING } from "./names.ts";
import type { ObservedApplication } from "./parse-application.ts";

type Beginner = Pick<ObservedApplication, "annotations" | "isAutomated" | "sync">;

/**
 * Whether an Application is to follow Git by itself, does not yet, and a sync of it is being stopped: that has to end first, for how it ends
 * is to be forgotten. A move stops a sync that waits for its next attempt, and may be given up at once. Without an operation it never ends.
 */
export function isBeingStopped(desired: DesiredObject, observed: Beginner): boolean {
  const { operation, state } = observed.sync;
  return begins(desired, observed) && operation !== undefined && state?.phase === "Terminating" && state.run === undefined;
}

/**
 * What an Application has to forget when it begins to follow Git by itself: a sync that failed or was stopped. Argo CD tries that revision
 * no more by itself (`alreadyAttemptedSync` of its application controller), so that nothing before the next commit would be deployed. What
 * users asked for stays as it ended, for whoever follows it.
 */
export function forgetFailure(desired: DesiredObject, observed: Beginner): readonly PatchOperation[] {
  const { operation, state } = observed.sync;
  if (!begins(desired, observed) || operation !== undefined || state?.run !== undefined) return [];
  return state?.phase === "Failed" || state?.phase === "Error" ? [FORGET_SYNC, OBSERVE_NOW] : [];
}

/** The same for one that was ended as it could not bring about what is wanted, where Argo CD is to begin another one. */
export function forgetStopped(
  desired: DesiredObject,
  observed: Beginner & Pick<ObservedApplication, "automatedSync">,
): readonly PatchOperation[] {
  if (!isAutomated(desired) || begins(desired, observed) || !isStoppedSync(observed)) return [];
  return observed.annotations[ANNOTATION_ARRIVING] === undefined ? [FORGET_SYNC, UNMARK_STOPPED, OBSERVE_NOW] : [];
}

/** Copies that a move put there forget by themselves whatever is not their own. */
function begins(desired: DesiredObject, observed: Beginner): boolean {
  return isAutomated(desired) && !observed.isAutomated && observed.annotations[ANNOTATION_ARRIVING] === undefined;
}

function isAutomated({ content }: DesiredObject): boolean {
  return asObject(asObject(content["spec"])["syncPolicy"])["automated"] !== undefined;
}
