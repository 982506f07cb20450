import type { ObjectAction, PatchOperation, Preconditions } from "../shard/diff-object.ts";
import { guards } from "../shard/diff-object.ts";
import type { Manifest, ObjectAt, ObservedObject } from "../shard/managed-object.ts";
import type { Sight } from "../shard/parse-sight.ts";

/** One conditional write to the Application of a side, or to the register. */
export type Write =
  | { readonly kind: "create"; readonly manifest: Manifest }
  | { readonly kind: "change"; readonly at: ObjectAt; readonly patch: readonly PatchOperation[] }
  | { readonly kind: "delete"; readonly at: ObjectAt; readonly preconditions: Preconditions };

/** Where a move has work: on the instance it comes from, on the one it goes to, or in the managed cluster. */
export type Side = "source" | "target" | "register";

export interface SidedWrite {
  readonly side: Side;
  readonly write: Write;
}

/** What is to be done about one object in a phase. */
export type Verdict =
  /** Nothing any more. */
  | { readonly kind: "done" }
  /** Nothing now; for people, what has to happen first. */
  | { readonly kind: "wait"; readonly why: string }
  | ({ readonly kind: "write" } & SidedWrite)
  /** A newer epoch was written to it: this worker is late, and has to read the move again. */
  | { readonly kind: "fenced" }
  /** The move cannot go on. */
  | { readonly kind: "abort"; readonly why: Refusal };

/** Why a move is given up, in a word and for people. */
export interface Refusal {
  readonly code:
    | "FOREIGN_FINALIZER"
    | "REGISTER_BYPASSED"
    | "TARGET_CANNOT_COMPARE"
    | "NO_REFUSAL"
    | "ENVIRONMENT_UNREACHABLE"
    | "SOFT_PROFILE";
  readonly text: string;
}

export const DONE: Verdict = { kind: "done" };
export const FENCED: Verdict = { kind: "fenced" };
export const wait = (why: string): Verdict => ({ kind: "wait", why });
export const write = (side: Side, each: Write): Verdict => ({ kind: "write", side, write: each });

/** A patch that is refused unless the object is the one, and in the very state, that was looked at. */
export function change(side: Side, observed: ObservedObject, patch: readonly PatchOperation[]): Verdict {
  return write(side, { kind: "change", at: observed.at, patch: [...guards(observed), ...patch] });
}

/** What all of it comes to: one that is late stops everything, what can be written is written, else it is waited or done. */
export function together(verdicts: readonly Verdict[]): Verdict | { readonly kind: "writes"; readonly writes: readonly SidedWrite[] } {
  const stop = verdicts.find(({ kind }) => kind === "fenced") ?? verdicts.find(({ kind }) => kind === "abort");
  if (stop !== undefined) return stop;
  const writes = verdicts.flatMap((verdict) => (verdict.kind === "write" ? [{ side: verdict.side, write: verdict.write }] : []));
  if (writes.length > 0) return { kind: "writes", writes };
  return verdicts.find(({ kind }) => kind === "wait") ?? DONE;
}

/** The write that a comparison with what is wanted asks for. */
export function carry<T extends ObservedObject>(side: Side, action: ObjectAction<T>, what: string): Verdict {
  switch (action.kind) {
    case "create":
      return write(side, { kind: "create", manifest: action.manifest });
    case "change":
      return write(side, { kind: "change", at: action.at, patch: action.patch });
    case "delete":
      return write(side, { kind: "delete", at: action.at, preconditions: action.preconditions });
    case "fenced":
      return FENCED;
    case "await-end":
      return wait(`for the former ${what} to end`);
    case "await-rest":
      return wait(`for the sync of ${what} to end`);
    case "settled":
    case "gone":
      return DONE;
  }
}

/**
 * Takes an Application away without touching what it deployed: first whatever finalizer it has, then it, under preconditions. One
 * that is ending already only loses its finalizers, and is waited for.
 */
export function remove(side: Side, sight: Sight): Verdict {
  if (sight.finalizers.length > 0) return change(side, sight, [{ op: "add", path: "/metadata/finalizers", value: [] }]);
  if (sight.isDeleting) return wait(`for the former copy of ${sight.at.name} to end`);
  return write(side, { kind: "delete", at: sight.at, preconditions: { uid: sight.uid, resourceVersion: sight.resourceVersion } });
}
