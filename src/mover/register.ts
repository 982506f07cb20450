import { ANNOTATION_EPOCH } from "../domain/names.ts";
import { diffObject, escapePointer, type Preconditions } from "../shard/diff-object.ts";
import { type DesiredObject, desire, manifestOf } from "../shard/managed-object.ts";
import type { RegisterSight } from "../shard/parse-sight.ts";
import { carry, change, DONE, FENCED, type Verdict, wait, write } from "./verdict.ts";

/**
 * The next step that takes the right to write from whoever has it: the register takes the move's epoch and names nobody. `granted` is
 * what it will be on the target. One that is not there is made so, for a late writer would make it anew for the old owner.
 */
export function revoke(register: RegisterSight | undefined, granted: DesiredObject, epoch: number): Verdict {
  if (register === undefined) return write("register", { kind: "create", manifest: manifestOf(withoutSubjects(granted)) });
  if ((register.epoch ?? 0) > epoch) return FENCED;
  if (register.isDeleting) return letGo(register);
  // Of another role it is none of ours, and API servers let nobody change a binding of rights he has not himself.
  if (register.fixedHash !== granted.fixedHash)
    return write("register", { kind: "delete", at: register.at, preconditions: versionOf(register) });
  if (register.epoch === epoch && register.subjects.length === 0) return DONE;
  return change("register", register, [
    { op: "add", path: `/metadata/annotations/${escapePointer(ANNOTATION_EPOCH)}`, value: String(epoch) },
    { op: "add", path: "/subjects", value: [] },
  ]);
}

/** The next step that gives the right to write to the target's account. */
export function grant(register: RegisterSight | undefined, granted: DesiredObject): Verdict {
  const action = diffObject(granted, register);
  return action.kind === "await-end" ? letGo(action.observed) : carry("register", action, "register");
}

/**
 * A register that is being deleted gives its right for as long as somebody's finalizer holds it, and whoever may delete it may set one:
 * a move would neither end nor say whose it is to be.
 */
function letGo(register: RegisterSight): Verdict {
  if (register.finalizers.length === 0) return wait("for the former register to end");
  return change("register", register, [{ op: "add", path: "/metadata/finalizers", value: [] }]);
}

function versionOf({ uid, resourceVersion }: RegisterSight): Preconditions {
  return { uid, resourceVersion };
}

function withoutSubjects(granted: DesiredObject): DesiredObject {
  const { contentHash: _contentHash, fixedHash: _fixedHash, content, ...wish } = granted;
  const { subjects: _subjects, ...rest } = content;
  return desire({ ...wish, content: rest });
}
