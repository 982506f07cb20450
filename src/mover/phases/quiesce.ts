import type { Millis } from "../../domain/clock.ts";
import { ANNOTATION_EPOCH } from "../../domain/names.ts";
import { foreignSync, OBSERVE_NOW } from "../../shard/arrival.ts";
import { escapePointer, type PatchOperation } from "../../shard/diff-object.ts";
import { ANNOTATION_COPIED, ANNOTATION_PAUSE } from "../../shard/names.ts";
import type { ApplicationObservation } from "../../shard/parse-observation.ts";
import { TERMINATE } from "../../shard/restlessness.ts";
import { change, DONE, FENCED, type ObjectStep, removeStep, wait, write } from "./object-step.ts";
import { isNewer, isSyncUnderWay, isUnfit, type Pair } from "./pair.ts";
import { copyStatus, renderArrival } from "./prepare.ts";

/** A sync that is under way when the source is fenced may go on for this long before it is terminated, in ms. */
const TERMINATE_AFTER_MS = 5 * 60_000;
/** After this long the source is paused whatever it does: it is the owner binding that keeps it from writing. In ms. */
const QUIET_CAP_MS = 10 * 60_000;

const annotation = (name: string): string => `/metadata/annotations/${escapePointer(name)}`;

/**
 * FENCE: the write that fences an application on the source. It removes what starts or deletes by itself, sets the move's epoch, and asks
 * Argo CD for a refresh. It does not pause: what Argo CD had decided before shows up before Argo CD takes that request off.
 */
export function fence(source: ApplicationObservation | undefined, epoch: number): ObjectStep {
  if (source === undefined) return DONE;
  if (isNewer(source, epoch)) return FENCED;
  if (source.isDeleting) return removeStep("source", source);
  if (source.epoch === epoch) return DONE;
  return change("source", source, [
    ...(source.isAutomated ? [{ op: "remove", path: "/spec/syncPolicy/automated" } as const] : []),
    ...strip(source),
    ...(source.isPaused ? [{ op: "remove", path: annotation(ANNOTATION_PAUSE) } as const] : []),
    { op: "add", path: annotation(ANNOTATION_EPOCH), value: String(epoch) },
    OBSERVE_NOW,
  ]);
}

export interface QuietTimes {
  readonly now: Millis;
  /** When the phase began. */
  readonly since: Millis;
  /** The source's controller is gone for good: it refreshes nothing any more, and nothing is under way. */
  readonly isStopped: boolean;
}

/**
 * QUIESCE: the next step that brings an application on the source to rest. It is paused once Argo CD has refreshed it and no sync is
 * requested or under way. One that was paused while a sync began is unpaused again, for a paused sync never ends.
 */
export function quiet(source: ApplicationObservation | undefined, epoch: number, { now, since, isStopped }: QuietTimes): ObjectStep {
  const fenced = fence(source, epoch);
  if (source === undefined || fenced.kind !== "done") return fenced;
  const elapsedMs = now - since;
  const isCapped = isStopped || elapsedMs > QUIET_CAP_MS;
  if (source.isPaused && isSyncUnderWay(source) && !isCapped)
    return change("source", source, [{ op: "remove", path: annotation(ANNOTATION_PAUSE) }]);
  if (source.isPaused) return source.finalizers.length > 0 ? change("source", source, strip(source)) : DONE;
  const calm = isCapped ? DONE : calmDown(source, elapsedMs);
  if (calm.kind !== "done") return calm;
  return change("source", source, [...strip(source), { op: "add", path: annotation(ANNOTATION_PAUSE), value: "true" }]);
}

function calmDown(source: ApplicationObservation, elapsedMs: number): ObjectStep {
  if (source.awaitsRefresh) return wait(`for the source to refresh ${source.at.name} once more`);
  if (!isSyncUnderWay(source)) return DONE;
  return mayTerminate(source, elapsedMs) ? change("source", source, [TERMINATE]) : wait(`for the sync of ${source.at.name} to end`);
}

/** QUIESCE, afterwards: gives the copy the source's status, now that the source is quiet. A copy that is gone is made again. */
export function hand({ desired, source, target }: Pair, epoch: number): ObjectStep {
  if (source === undefined || desired === undefined) return DONE;
  if (target === undefined) return write("target", { kind: "create", manifest: renderArrival(desired, source) });
  if (isNewer(target, epoch)) return FENCED;
  if (isUnfit(target, epoch)) return removeStep("target", target);
  const { status, hash } = copyStatus(source);
  const foreign = foreignSync(target);
  if (foreign.length > 0) return change("target", target, foreign);
  if (target.copiedHash === hash) return DONE;
  return change("target", target, [
    { op: "add", path: "/status", value: status },
    { op: "add", path: annotation(ANNOTATION_COPIED), value: hash },
  ]);
}

function strip(observation: ApplicationObservation): readonly PatchOperation[] {
  return observation.finalizers.length === 0 ? [] : [{ op: "add", path: "/metadata/finalizers", value: [] }];
}

/** A sync that waits for its next attempt does nothing, and is terminated at once. Without an operation it would stay Terminating for ever. */
function mayTerminate({ sync: { operation, state } }: ApplicationObservation, elapsedMs: number): boolean {
  if (operation === undefined || state?.phase !== "Running") return false;
  return state.finishedAt !== undefined || elapsedMs > TERMINATE_AFTER_MS;
}
