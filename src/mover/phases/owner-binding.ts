import { ANNOTATION_EPOCH } from "../../domain/names.ts";
import { diffObject, escapePointer, type Preconditions } from "../../shard/diff-object.ts";
import { type DesiredObject, desire, manifestOf } from "../../shard/managed-object.ts";
import type { ObservedOwnerBinding } from "../../shard/parse-observation.ts";
import type { Tampering } from "../../shard/tampering.ts";
import { change, DONE, FENCED, type ObjectStep, objectStepOf, type Write, wait, write } from "./object-step.ts";

/**
 * REVOKE: the next step that takes the right to write from whoever has it. The owner binding gets the move's epoch and names nobody.
 * `granted` is what it will be on the target. A binding that is missing is made so, for a late writer would make it again for the old owner.
 */
export function revoke(ownerBinding: ObservedOwnerBinding | undefined, granted: DesiredObject, epoch: number): ObjectStep {
  if (ownerBinding === undefined) return write("ownerBinding", { kind: "create", manifest: manifestOf(withoutSubjects(granted)) });
  if ((ownerBinding.epoch ?? 0) > epoch) return FENCED;
  if (ownerBinding.isDeleting) return letGo(ownerBinding);
  // A binding of another role is not ours, and API servers let nobody change a binding of rights that he does not have.
  if (ownerBinding.fixedHash !== granted.fixedHash)
    return write("ownerBinding", { kind: "delete", at: ownerBinding.at, preconditions: versionOf(ownerBinding) });
  if (ownerBinding.epoch === epoch && ownerBinding.subjects.length === 0) return DONE;
  return change("ownerBinding", ownerBinding, [
    { op: "add", path: `/metadata/annotations/${escapePointer(ANNOTATION_EPOCH)}`, value: String(epoch) },
    { op: "add", path: "/subjects", value: [] },
  ]);
}

/** GRANT: the next step that gives the right to write to the target's account. */
export function grant(ownerBinding: ObservedOwnerBinding | undefined, granted: DesiredObject): ObjectStep {
  const action = diffObject(granted, ownerBinding);
  return action.kind === "await-end" ? letGo(action.observed) : objectStepOf("ownerBinding", action, "owner binding");
}

/**
 * Takes the finalizers off an owner binding that is being deleted. Such a binding gives its right for as long as a finalizer holds it, and
 * whoever may delete it may set one: the move would never end.
 */
function letGo(ownerBinding: ObservedOwnerBinding): ObjectStep {
  if (ownerBinding.finalizers.length === 0) return wait("for the former owner binding to end");
  return change("ownerBinding", ownerBinding, [{ op: "add", path: "/metadata/finalizers", value: [] }]);
}

function versionOf({ uid, resourceVersion }: ObservedOwnerBinding): Preconditions {
  return { uid, resourceVersion };
}

function withoutSubjects(granted: DesiredObject): DesiredObject {
  const { contentHash: _contentHash, fixedHash: _fixedHash, content, ...rest } = granted;
  const { subjects: _subjects, ...others } = content;
  return desire({ ...rest, content: others });
}

/**
 * What somebody else did to the owner binding during a move, judged from the binding and from the write that repairs it; `undefined`: the
 * write is the move's own. A binding of ours has an epoch, exists, and is not being deleted.
 */
export function tamperingOf(ownerBinding: ObservedOwnerBinding | undefined, repair: Write): Tampering | undefined {
  if (ownerBinding === undefined) return repair.kind === "create" ? { what: "deleted", by: undefined } : undefined;
  if (repair.kind === "delete") return { what: "replaced", by: ownerBinding.lastWrite };
  if (ownerBinding.isDeleting) return { what: "deleted", by: ownerBinding.lastWrite };
  return ownerBinding.epoch === undefined ? { what: "edited", by: ownerBinding.lastWrite } : undefined;
}
