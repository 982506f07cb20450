import { ANNOTATION_EPOCH, ANNOTATION_HASH } from "../domain/names.ts";
import type { ObjectAction, PatchOperation } from "./diff-object.ts";
import { escapePointer } from "./diff-object.ts";
import { ANNOTATION_REFRESH } from "./names.ts";
import type { ObservedApplication } from "./parse-application.ts";
import { TERMINATE } from "./restlessness.ts";

const ANNOTATIONS = "/metadata/annotations/";
const EPOCH = `${ANNOTATIONS}${escapePointer(ANNOTATION_EPOCH)}`;
const WORK: ReadonlySet<string> = new Set(["/spec", `${ANNOTATIONS}${escapePointer(ANNOTATION_REFRESH)}`]);

/**
 * Whether a step makes work for the instance's controller that may as well begin later: a creation, a new spec, a request to refresh.
 *
 * What keeps others safe may not wait, and neither may anything in the same patch with it: another epoch, finalizers, labels, the end
 * of a pause, and whatever puts right what somebody else has changed behind our back. Deletions are no such steps.
 */
export function mayWait(action: ObjectAction<ObservedApplication>, observed: ObservedApplication | undefined): boolean {
  if (action.kind === "create") return true;
  if (action.kind !== "change" || observed === undefined || observed.contentHash !== observed.annotations[ANNOTATION_HASH]) return false;
  const writes = action.patch.filter(({ op }) => op !== "test");
  return writes.some(({ path }) => WORK.has(path)) && writes.every(isOfNoHaste);
}

/** A new spec, what Argosy notes beside one, and the end of a sync that waits for its next attempt or has another source. */
function isOfNoHaste({ op, path }: PatchOperation): boolean {
  return op === "add" && path !== EPOCH && (path === "/spec" || path === TERMINATE.path || path.startsWith(ANNOTATIONS));
}
