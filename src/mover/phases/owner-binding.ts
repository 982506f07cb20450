import { ANNOTATION_EPOCH } from "../../domain/names.ts";
import { diffObject, escapePointer, type Preconditions } from "../../shard/diff-object.ts";
import { type DesiredObject, desire, manifestOf } from "../../shard/managed-object.ts";
import type { RegisterSight } from "../../shard/parse-sight.ts";
import type { Tampering } from "../../shard/tampering.ts";
import { change, DONE, FENCED, type ObjectStep, stepOf, type Write, wait, write } from "./object-step.ts";

/**
 * REVOKE: the next step that takes the right to write from whoever has it. The owner binding gets the move's epoch and names nobody.
 * `granted` is what it will be on the target. A binding that is missing is made so, for a late writer would make it again for the old owner.
 */
export function revoke(register: RegisterSight | undefined, granted: DesiredObject, epoch: number): ObjectStep {
  if (register === undefined) return write("register", { kind: "create", manifest: manifestOf(withoutSubjects(granted)) });
  if ((register.epoch ?? 0) > epoch) return FENCED;
  if (register.isDeleting) return letGo(register);
  // A binding of another role is not ours, and API servers let nobody change a binding of rights that he does not have.
  if (register.fixedHash !== granted.fixedHash)
    return write("register", { kind: "delete", at: register.at, preconditions: versionOf(register) });
  if (register.epoch === epoch && register.subjects.length === 0) return DONE;
  return change("register", register, [
    { op: "add", path: `/metadata/annotations/${escapePointer(ANNOTATION_EPOCH)}`, value: String(epoch) },
    { op: "add", path: "/subjects", value: [] },
  ]);
}

/** GRANT: the next step that gives the right to write to the target's account. */
export function grant(register: RegisterSight | undefined, granted: DesiredObject): ObjectStep {
  const action = diffObject(granted, register);
  return action.kind === "await-end" ? letGo(action.observed) : stepOf("register", action, "register");
}

/**
 * Takes the finalizers off an owner binding that is being deleted. Such a binding gives its right for as long as a finalizer holds it, and
 * whoever may delete it may set one: the move would never end.
 */
function letGo(register: RegisterSight): ObjectStep {
  if (register.finalizers.length === 0) return wait("for the former register to end");
  return change("register", register, [{ op: "add", path: "/metadata/finalizers", value: [] }]);
}

function versionOf({ uid, resourceVersion }: RegisterSight): Preconditions {
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
export function tamperingOf(register: RegisterSight | undefined, repair: Write): Tampering | undefined {
  if (register === undefined) return repair.kind === "create" ? { what: "deleted", by: undefined } : undefined;
  if (repair.kind === "delete") return { what: "replaced", by: register.lastWrite };
  if (register.isDeleting) return { what: "deleted", by: register.lastWrite };
  return register.epoch === undefined ? { what: "edited", by: register.lastWrite } : undefined;
}
