import { escapePointer, type PatchOperation } from "./diff-object.ts";
import { ANNOTATION_ARRIVING, ANNOTATION_COPIED, ANNOTATION_PAUSE, ANNOTATION_REFRESH } from "./names.ts";
import type { ObservedApplication } from "./parse-application.ts";

type Arriving = Pick<ObservedApplication, "annotations" | "sync">;

const annotation = (name: string): string => `/metadata/annotations/${escapePointer(name)}`;

/** Argo CD is to look once more, or a status that was copied may be believed for minutes. */
export const OBSERVE_NOW: PatchOperation = { op: "add", path: annotation(ANNOTATION_REFRESH), value: "normal" };

/** Argo CD is to know nothing of the last sync. */
export const FORGET_SYNC: PatchOperation = { op: "remove", path: "/status/operationState" };

/**
 * What a copy has to forget of syncs: one begins nothing, and is told of one that succeeded or of none. Anything else is of a former
 * Application of its name that its instance went on with, which nobody would end.
 */
export function foreignSync({ annotations, sync: { operation, state } }: Arriving): readonly PatchOperation[] {
  if (annotations[ANNOTATION_ARRIVING] === undefined) return [];
  return [
    ...(operation === undefined ? [] : [{ op: "remove", path: "/operation" } as const]),
    ...(state === undefined || state.phase === "Succeeded" ? [] : [FORGET_SYNC]),
  ];
}

/** What takes the marks off by which a move keeps an Application from work. */
export function unmark({ annotations }: Pick<Arriving, "annotations">): readonly PatchOperation[] {
  const marks = [ANNOTATION_PAUSE, ANNOTATION_ARRIVING, ANNOTATION_COPIED].filter((name) => annotations[name] !== undefined);
  return marks.map((name) => ({ op: "remove", path: annotation(name) }));
}

/**
 * What makes an instance work for an Application that a move had paused, or had put there and not activated: its marks go, and what is
 * not its own.
 */
export function letLoose(observed: Arriving): readonly PatchOperation[] {
  const isCopy = observed.annotations[ANNOTATION_ARRIVING] !== undefined;
  return [...unmark(observed), ...foreignSync(observed), ...(isCopy ? [OBSERVE_NOW] : [])];
}
