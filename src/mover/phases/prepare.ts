import { contentHash } from "../../domain/hash.ts";
import { asArray, asObject, type Json } from "../../domain/json.ts";
import type { MoveBaseline } from "../../domain/move.ts";
import { foreignSync, OBSERVE_NOW } from "../../shard/arrival.ts";
import { escapePointer } from "../../shard/diff-object.ts";
import { type DesiredObject, type Manifest, manifestOf } from "../../shard/managed-object.ts";
import { ANNOTATION_ARRIVING, ANNOTATION_COPIED, ANNOTATION_PAUSE } from "../../shard/names.ts";
import { isFinalizerOfArgo } from "../../shard/parse-application.ts";
import type { ApplicationObservation } from "../../shard/parse-observation.ts";
import { change, DONE, FENCED, type ObjectStep, removeStep, wait, write } from "./object-step.ts";
import { isNewer, isUnfit, type Pair } from "./pair.ts";

/** Conditions with which Argo CD says that it cannot compare. */
const BLIND: readonly string[] = ["ComparisonError", "InvalidSpecError", "UnknownError"];

/**
 * PREPARE: the next step that puts a copy of an application on the target. It is made paused, with the source's status and without anything
 * that starts or deletes by itself. Then it is unpaused to compare once, which needs no right to write and warms the target's cache. Then
 * it is paused again.
 */
export function arrive(pair: Pair, epoch: number): ObjectStep {
  const { name, desired, source, target, isSourceUnknown } = pair;
  if (desired === undefined || (source === undefined && !isSourceUnknown)) return DONE;
  const foreigner = source?.finalizers.find((finalizer) => !isFinalizerOfArgo(finalizer));
  if (foreigner !== undefined) {
    const text = `the Application of ${name} has the finalizer ${foreigner}, which is not Argo CD's: whoever set it has to take it off`;
    return { kind: "abort", why: { code: "FOREIGN_FINALIZER", text } };
  }
  if (target === undefined) return write("target", { kind: "create", manifest: renderArrival(desired, source) });
  if (isNewer(target, epoch)) return FENCED;
  if (isUnfit(target, epoch)) return removeStep("target", target);
  const foreign = foreignSync(target);
  if (foreign.length > 0) return change("target", target, foreign);
  switch (target.arrival) {
    case "created":
      return change("target", target, [unpause, mark("comparing"), OBSERVE_NOW]);
    case "comparing":
      return compared(pair, target);
    case "compared":
    case undefined:
      return DONE;
  }
}

/**
 * The copy of an application as it is made on the target: there, and not able to do anything yet. Where nobody observes the source it has no
 * status, and finds out by itself what is live.
 */
export function renderArrival(desired: DesiredObject, source: Pick<ApplicationObservation, "status"> = { status: {} }): Manifest {
  const whole = manifestOf(desired);
  const spec = asObject(whole["spec"]);
  const { automated: _automated, ...syncPolicy } = asObject(spec["syncPolicy"]);
  const { status, hash } = copyStatus(source);
  const annotations = {
    ...whole.metadata.annotations,
    [ANNOTATION_PAUSE]: "true",
    [ANNOTATION_ARRIVING]: "created",
    [ANNOTATION_COPIED]: hash,
  };
  return { ...whole, metadata: { ...whole.metadata, annotations }, spec: { ...spec, syncPolicy }, status };
}

/** The source's statuses before the move, as they are or were last recorded. VERIFY compares the target with them. */
export function baselineOf(pairs: readonly Pair[]): readonly MoveBaseline[] {
  return pairs.flatMap(({ name, before: status }) => {
    if (status === undefined) return [];
    const conditions = [...new Set(status.conditions.map(({ type }) => type))].sort();
    return [{ name, sync: status.sync.status, health: status.health.status, conditions }];
  });
}

const unpause = { op: "remove", path: `/metadata/annotations/${escapePointer(ANNOTATION_PAUSE)}` } as const;
const pause = { op: "add", path: `/metadata/annotations/${escapePointer(ANNOTATION_PAUSE)}`, value: "true" } as const;
const mark = (arrival: string) =>
  ({ op: "add", path: `/metadata/annotations/${escapePointer(ANNOTATION_ARRIVING)}`, value: arrival }) as const;

function compared({ before }: Pair, target: ApplicationObservation): ObjectStep {
  const { name } = target.at;
  if (target.awaitsRefresh || target.report === undefined) return wait(`for the target to compare ${name}`);
  const known = new Set(before?.conditions.map(({ type }) => type));
  const { conditions, sync } = target.report.status;
  const complaint = conditions.find(({ type }) => BLIND.includes(type) && !known.has(type));
  if (complaint !== undefined) return wait(`for the target to be able to compare ${name}: ${complaint.message}`);
  if (sync.status === "Unknown" && before?.sync.status !== "Unknown") return wait(`for the target to compare ${name}`);
  return change("target", target, [pause, mark("compared")]);
}

/** Largest status that is copied whole, in characters of JSON: etcd refuses objects of more than 1.5 MB. */
const SIZE_LIMIT = 400_000;
const HISTORY_LIMIT = 5;
/** Entries kept of lists in a status that is too large. */
const LIST_LIMIT = 200;

/** The status that a copy is made with, and the hash by which it is recognised. */
export interface StatusCopy {
  readonly status: Json;
  readonly hash: string;
}

/**
 * What the target knows of an application before it has compared: with it nothing is synced again and the history goes on. The last
 * operation is copied only if it succeeded. A failed one would keep Argo CD from syncing that revision; without one it syncs.
 */
export function copyStatus({ status }: Pick<ApplicationObservation, "status">): StatusCopy {
  const { operationState, history, ...rest } = status;
  const isGood = asObject(operationState)["phase"] === "Succeeded";
  const copy: Json = {
    ...rest,
    ...(isGood ? { operationState } : {}),
    ...(history === undefined ? {} : { history: asArray(history).slice(-HISTORY_LIMIT) }),
  };
  const bounded = isSmall(copy) ? copy : trim(copy);
  return { status: bounded, hash: contentHash(bounded) };
}

function isSmall(status: Json): boolean {
  return JSON.stringify(status).length <= SIZE_LIMIT;
}

/** The controller fills the lists in again with its first comparison; what it decides from are the scalars. */
function trim({ resources, operationState, summary: _summary, ...rest }: Json): Json {
  const result = asObject(asObject(operationState)["syncResult"]);
  const cut = asArray(result["resources"]).slice(0, LIST_LIMIT);
  const trimmed: Json = {
    ...rest,
    resources: asArray(resources).slice(0, LIST_LIMIT),
    ...(operationState === undefined ? {} : { operationState: { ...asObject(operationState), syncResult: { ...result, resources: cut } } }),
  };
  if (isSmall(trimmed)) return trimmed;
  const { resources: _resources, history: _history, conditions: _conditions, ...core } = trimmed;
  return core;
}
