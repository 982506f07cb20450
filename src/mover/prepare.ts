import { asObject } from "../domain/json.ts";
import type { MoveBaseline } from "../domain/move.ts";
import { foreignSync, LOOK_NOW } from "../shard/arrival.ts";
import { escapePointer } from "../shard/diff-object.ts";
import { type DesiredObject, type Manifest, manifestOf } from "../shard/managed-object.ts";
import { ANNOTATION_ARRIVING, ANNOTATION_COPIED, ANNOTATION_PAUSE } from "../shard/names.ts";
import { isFinalizerOfArgo } from "../shard/parse-application.ts";
import type { Sight } from "../shard/parse-sight.ts";
import { copyStatus } from "./copy-status.ts";
import { isNewer, isUnfit, type Pair } from "./pair.ts";
import { change, DONE, FENCED, remove, type Verdict, wait, write } from "./verdict.ts";

/** Conditions with which Argo CD says that it cannot compare. */
const BLIND: readonly string[] = ["ComparisonError", "InvalidSpecError", "UnknownError"];

/**
 * The next step that puts a copy of an application on the target: made paused, without anything that starts or deletes by itself,
 * knowing what the source knows; then let loose to compare, which needs no right to write and warms its cache; then paused again.
 */
export function arrive(pair: Pair, epoch: number): Verdict {
  const { name, desired, source, target, isSourceUnknown } = pair;
  if (desired === undefined || (source === undefined && !isSourceUnknown)) return DONE;
  const foreigner = source?.finalizers.find((finalizer) => !isFinalizerOfArgo(finalizer));
  if (foreigner !== undefined) {
    const text = `the Application of ${name} has the finalizer ${foreigner}, which is not Argo CD's: whoever set it has to take it off`;
    return { kind: "abort", why: { code: "FOREIGN_FINALIZER", text } };
  }
  if (target === undefined) return write("target", { kind: "create", manifest: renderArrival(desired, source) });
  if (isNewer(target, epoch)) return FENCED;
  if (isUnfit(target, epoch)) return remove("target", target);
  const foreign = foreignSync(target);
  if (foreign.length > 0) return change("target", target, foreign);
  switch (target.arrival) {
    case "created":
      return change("target", target, [unpause, mark("comparing"), LOOK_NOW]);
    case "comparing":
      return compared(pair, target);
    case "compared":
    case undefined:
      return DONE;
  }
}

/**
 * The copy of an application as it is made on the target. It stands before it can do anything. Where nobody sees the source it knows
 * nothing, and finds out what is live by itself.
 */
export function renderArrival(desired: DesiredObject, source: Pick<Sight, "status"> = { status: {} }): Manifest {
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

/** As the source is now, or was last seen, to be held against the target afterwards. */
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

function compared({ before }: Pair, target: Sight): Verdict {
  const { name } = target.at;
  if (target.awaitsRefresh || target.report === undefined) return wait(`for the target to compare ${name}`);
  const known = new Set(before?.conditions.map(({ type }) => type));
  const { conditions, sync } = target.report.status;
  const complaint = conditions.find(({ type }) => BLIND.includes(type) && !known.has(type));
  if (complaint !== undefined) return wait(`for the target to be able to compare ${name}: ${complaint.message}`);
  if (sync.status === "Unknown" && before?.sync.status !== "Unknown") return wait(`for the target to compare ${name}`);
  return change("target", target, [pause, mark("compared")]);
}
