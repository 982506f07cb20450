import { OBSERVE_NOW } from "../../shard/arrival.ts";
import { guards, type ObjectAction, type PatchOperation, type Preconditions } from "../../shard/diff-object.ts";
import type { Manifest, ObjectAt, ObservedObject } from "../../shard/managed-object.ts";
import { ANNOTATION_PAUSE } from "../../shard/names.ts";
import type { ApplicationObservation } from "../../shard/parse-observation.ts";

/** One conditional write to an Application of a side, or to the owner binding. */
export type Write =
  | { readonly kind: "create"; readonly manifest: Manifest }
  | { readonly kind: "change"; readonly at: ObjectAt; readonly patch: readonly PatchOperation[] }
  | { readonly kind: "delete"; readonly at: ObjectAt; readonly preconditions: Preconditions };

/** Where a move writes: on the instance it comes from, on the one it goes to, or in the managed cluster. */
export type Side = "source" | "target" | "ownerBinding";

export interface SidedWrite {
  readonly side: Side;
  readonly write: Write;
}

/** What a phase does next about one object. */
export type ObjectStep =
  /** Nothing more. */
  | { readonly kind: "done" }
  /** Nothing yet. `why`: what has to happen first, for people. */
  | { readonly kind: "wait"; readonly why: string }
  | ({ readonly kind: "write" } & SidedWrite)
  /** A newer epoch was written to it: this worker is late, and has to read the move again. */
  | { readonly kind: "fenced" }
  /** The move cannot go on. */
  | { readonly kind: "abort"; readonly why: AbortReason };

/** What a phase does next about several objects. */
export type JoinedStep = ObjectStep | { readonly kind: "writes"; readonly writes: readonly SidedWrite[] };

/** Why a move is given up: a code, and a text for people. */
export interface AbortReason {
  readonly code:
    | "FOREIGN_FINALIZER"
    | "OWNER_BINDING_BYPASSED"
    | "TARGET_CANNOT_COMPARE"
    | "NO_REFUSAL"
    | "ENVIRONMENT_UNREACHABLE"
    | "SOFT_PROFILE";
  readonly text: string;
}

export const DONE: ObjectStep = { kind: "done" };
export const FENCED: ObjectStep = { kind: "fenced" };
export const wait = (why: string): ObjectStep => ({ kind: "wait", why });
export const write = (side: Side, each: Write): ObjectStep => ({ kind: "write", side, write: each });

/** A patch that the API server refuses unless the object is the one that was observed, in that very state. */
export function change(side: Side, observed: ObservedObject, patch: readonly PatchOperation[]): ObjectStep {
  return write(side, { kind: "change", at: observed.at, patch: [...guards(observed), ...patch] });
}

/**
 * Takes an Application away without touching what it deployed: first its finalizers, whatever they are, then it, under preconditions. One
 * that is being deleted already only loses its finalizers, and is waited for.
 */
export function removeStep(side: Side, observation: ApplicationObservation): ObjectStep {
  if (observation.finalizers.length > 0) return change(side, observation, [{ op: "add", path: "/metadata/finalizers", value: [] }]);
  if (observation.isDeleting) return wait(`for the former copy of ${observation.at.name} to end`);
  return write(side, {
    kind: "delete",
    at: observation.at,
    preconditions: { uid: observation.uid, resourceVersion: observation.resourceVersion },
  });
}

/** The step that the difference between an object and what is desired asks for. */
export function objectStepOf<T extends ObservedObject>(side: Side, action: ObjectAction<T>, what: string): ObjectStep {
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

/** The step of all of them together. One that is fenced or aborts stops everything; else all writes are written; else it is waited, or done. */
export function together(steps: readonly ObjectStep[]): JoinedStep {
  const stop = steps.find(({ kind }) => kind === "fenced") ?? steps.find(({ kind }) => kind === "abort");
  if (stop !== undefined) return stop;
  const writes = steps.flatMap((step) => (step.kind === "write" ? [{ side: step.side, write: step.write }] : []));
  if (writes.length > 0) return { kind: "writes", writes };
  return steps.find(({ kind }) => kind === "wait") ?? DONE;
}

/** How many of a unit's Applications wait in Argo CD's queue of refreshes at once. */
const AT_ONCE = 5;
/** One more may wait after each of these, in ms, so that an Application which is never refreshed holds up the others only for a moment. */
const ONE_MORE_EACH_MS = 500;

/**
 * Lets few Applications of a unit ask for a refresh at a time; the others wait. Argo CD refreshes in the order in which it is asked: users
 * whose Applications are on the target already would wait behind all of a large unit. `elapsedMs`: how long ago the phase began.
 */
export function inTurns(steps: readonly ObjectStep[], elapsedMs: number): readonly ObjectStep[] {
  const waiting = steps.filter(({ kind }) => kind === "wait").length;
  let free = AT_ONCE + Math.floor(elapsedMs / ONE_MORE_EACH_MS) - waiting;
  return steps.map((step) => {
    if (step.kind !== "write" || !asksForRefresh(step)) return step;
    free -= 1;
    return free < 0 ? wait("for applications before it to be refreshed") : step;
  });
}

function asksForRefresh({ write: asked }: SidedWrite): boolean {
  if (asked.kind === "create") return asked.manifest.metadata.annotations[ANNOTATION_PAUSE] === undefined;
  return asked.kind === "change" && asked.patch.some(({ op, path }) => op === "add" && path === OBSERVE_NOW.path);
}
