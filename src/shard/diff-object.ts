import { ANNOTATION_EPOCH } from "../domain/names.ts";
import type { DesiredObject, Fence, Manifest, ObjectAt, ObservedObject } from "./managed-object.ts";
import { managedAnnotationsOf, manifestOf } from "./managed-object.ts";
import { ANNOTATION_REVISION } from "./names.ts";

export interface PatchOperation {
  readonly op: "add" | "remove" | "replace" | "test";
  readonly path: string;
  readonly value?: unknown;
}

export interface Preconditions {
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * The next step towards what an object should be. After `create`, `change` and `delete` the step after is decided from what
 * is there then; the others end the work for now.
 */
export type ObjectAction<T extends ObservedObject> =
  | { readonly kind: "settled"; readonly observed: T }
  | { readonly kind: "create"; readonly manifest: Manifest }
  | { readonly kind: "change"; readonly at: ObjectAt; readonly patch: readonly PatchOperation[]; readonly why: readonly Difference[] }
  | { readonly kind: "delete"; readonly at: ObjectAt; readonly preconditions: Preconditions }
  /** It should not be there, and is not. */
  | { readonly kind: "gone" }
  /** It is on its way out; nothing can be done before its end. */
  | { readonly kind: "await-end"; readonly observed: T }
  /** Something is under way in it that has to end first. */
  | { readonly kind: "await-rest"; readonly observed: T }
  /** It was written under newer rows than ours: we are late, and must read them. */
  | { readonly kind: "fenced"; readonly by: Fence };

type Difference = "content" | "labels" | "annotations" | "finalizers";

/**
 * Compares an object with what it should be, by its real content and not only by the hash it claims. A difference of the
 * revision alone is none: rows change in ways that leave an object as it is. Fixed fields cannot be changed: an object that
 * has others there is deleted, to be made anew.
 */
export function diffObject<T extends ObservedObject>(desired: DesiredObject, observed: T | undefined): ObjectAction<T> {
  if (observed === undefined) return { kind: "create", manifest: manifestOf(desired) };
  const newer = newerFence(desired.fence, observed);
  if (newer !== undefined) return { kind: "fenced", by: newer };
  if (observed.isDeleting) return { kind: "await-end", observed };
  if (observed.fixedHash !== desired.fixedHash) return { kind: "delete", at: observed.at, preconditions: preconditionsOf(observed) };
  const why = differences(desired, observed);
  if (why.length === 0) return { kind: "settled", observed };
  return { kind: "change", at: observed.at, patch: [...guards(observed), ...changes(desired, observed)], why };
}

/** Decides the next step that ends an object which nobody needs any more, unless newer rows (than `fence`) wrote it again. */
export function planRemoval<T extends ObservedObject>(observed: T | undefined, fence?: Fence): ObjectAction<T> {
  if (observed === undefined) return { kind: "gone" };
  const newer = newerFence(fence, observed);
  if (newer !== undefined) return { kind: "fenced", by: newer };
  if (observed.isDeleting) return { kind: "await-end", observed };
  return { kind: "delete", at: observed.at, preconditions: preconditionsOf(observed) };
}

/** The fence of an object that newer rows than ours were written to; `undefined` when ours may be written. */
export function newerFence(ours: Fence | undefined, observed: Pick<ObservedObject, "epoch" | "revision">): Fence | undefined {
  if (ours === undefined || observed.epoch === undefined || observed.epoch < ours.epoch) return undefined;
  const revision = observed.revision ?? 0;
  return observed.epoch > ours.epoch || revision > ours.revision ? { epoch: observed.epoch, revision } : undefined;
}

function preconditionsOf(observed: Pick<ObservedObject, "uid" | "resourceVersion">): Preconditions {
  return { uid: observed.uid, resourceVersion: observed.resourceVersion };
}

/** Tests that refuse a patch unless the object is still the one, and in the very state, that the patch was made for. */
export function guards(observed: ObservedObject): readonly PatchOperation[] {
  const epoch = observed.annotations[ANNOTATION_EPOCH];
  return [
    { op: "test", path: "/metadata/uid", value: observed.uid },
    { op: "test", path: "/metadata/resourceVersion", value: observed.resourceVersion },
    ...(epoch === undefined
      ? []
      : [{ op: "test", path: `/metadata/annotations/${escapePointer(ANNOTATION_EPOCH)}`, value: epoch } as const]),
  ];
}

function differences(desired: DesiredObject, observed: ObservedObject): readonly Difference[] {
  const annotations = Object.entries(managedAnnotationsOf(desired)).filter(([name]) => name !== ANNOTATION_REVISION);
  return [
    ...(observed.contentHash === desired.contentHash ? [] : (["content"] as const)),
    ...(holds(observed.labels, Object.entries(desired.labels)) ? [] : (["labels"] as const)),
    ...(holds(observed.annotations, annotations) ? [] : (["annotations"] as const)),
  ];
}

function holds(map: Readonly<Record<string, string>>, entries: readonly (readonly [string, string])[]): boolean {
  return entries.every(([name, value]) => map[name] === value);
}

function changes(desired: DesiredObject, observed: ObservedObject): readonly PatchOperation[] {
  const content = observed.contentHash === desired.contentHash ? [] : Object.entries(desired.content);
  return [
    ...mapChanges("labels", observed.labels, desired.labels),
    ...mapChanges("annotations", observed.annotations, managedAnnotationsOf(desired)),
    // "add" replaces a member that is there; fixed fields are equal by now, and naming them again does no harm.
    ...content.map(([field, value]) => ({ op: "add", path: `/${escapePointer(field)}`, value }) as const),
  ];
}

/**
 * Sets the entries that differ. Where none of ours is left the map itself may be gone, and a patch can neither add to a
 * missing map nor make one only if it is missing: it is then written whole. What others had put in such a map is lost;
 * nobody else has a claim on these objects.
 */
export function mapChanges(
  field: "labels" | "annotations",
  observed: Readonly<Record<string, string>>,
  desired: Readonly<Record<string, string>>,
): readonly PatchOperation[] {
  const wrong = Object.entries(desired).filter(([name, value]) => observed[name] !== value);
  if (wrong.length === 0) return [];
  if (Object.keys(observed).length === 0) return [{ op: "add", path: `/metadata/${field}`, value: desired }];
  return wrong.map(([name, value]) => ({ op: "add", path: `/metadata/${field}/${escapePointer(name)}`, value }));
}

/** A name as one segment of a JSON pointer (RFC 6901). */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
