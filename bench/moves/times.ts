import type { MovePhase } from "../../src/domain/move.ts";
import { LABEL_UNIT } from "../../src/domain/names.ts";
import { mapAt } from "../../src/runtime/kube/testing/json.ts";
import { metadataOf } from "../../src/runtime/kube/testing/object-rules.ts";
import type { Entry } from "../../src/simulation/history.ts";
import { isOperationUnderWay, REFRESH_ANNOTATION } from "../../src/simulation/models/engine/application.ts";
import { annotationsOf } from "../../src/simulation/models/kubernetes/server.ts";
import { textAt } from "../../src/simulation/models/kubernetes/text.ts";

/** What one move spent its time with, in ms. */
export interface MoveTimes {
  readonly beganAt: number;
  readonly endedAt: number;
  /** From the right being asked back to the new owner having compared everything with the right to write. */
  readonly gapMs: number;
  readonly fenceMs: number;
  /** An instance had been asked for something that it had not done. */
  readonly engineMs: number;
}

interface Marks {
  readonly at: Map<MovePhase, number>;
  /** Applications of its unit that an instance was asked to look at, and has not. */
  readonly waiting: Set<string>;
  waitingSince: number;
  engineMs: number;
}

/** Reads the times of every move that ended by itself. `fenceMs` is the least for which refusals have to be watched. */
export function timesOf(entries: readonly Entry[], fenceMs: number): readonly MoveTimes[] {
  const moves = new Map<string, Marks>();
  for (const { at, happening } of entries) {
    if (happening.kind === "move") {
      const marks = moves.get(happening.unit) ?? { at: new Map(), waiting: new Set(), waitingSince: 0, engineMs: 0 };
      moves.set(happening.unit, marks);
      marks.at.set(happening.phase, at);
    } else if (happening.kind === "object" && happening.resource === "applications.argoproj.io") {
      const marks = moves.get(textAt(mapAt(metadataOf(happening.object), "labels"), LABEL_UNIT));
      if (marks?.at.has("PREPARE") && !marks.at.has("DONE")) countWaiting(marks, happening, at);
    }
  }
  return [...moves.values()].flatMap(({ at, engineMs }) => {
    const [beganAt, revokedAt, workingAt, endedAt] = [at.get("PREPARE"), at.get("REVOKE"), at.get("VERIFY"), at.get("DONE")];
    if (beganAt === undefined || revokedAt === undefined || workingAt === undefined || endedAt === undefined) return [];
    return [{ beganAt, endedAt, gapMs: workingAt - revokedAt, fenceMs, engineMs }];
  });
}

type ObjectHappening = Extract<Entry["happening"], { readonly kind: "object" }>;

function countWaiting(marks: Marks, { namespace, name, object, change }: ObjectHappening, at: number): void {
  const { waiting } = marks;
  const before = waiting.size;
  const isAsked = annotationsOf(object)[REFRESH_ANNOTATION] !== undefined || isOperationUnderWay(object);
  if (isAsked && change !== "DELETED") waiting.add(`${namespace}/${name}`);
  else waiting.delete(`${namespace}/${name}`);
  if (before === 0 && waiting.size > 0) marks.waitingSince = at;
  if (before > 0 && waiting.size === 0) marks.engineMs += at - marks.waitingSince;
}

/** Of the wall time of all, the part in which moves neither watched refusals nor waited for an instance, in ms. */
export function managersMs(times: readonly MoveTimes[]): number {
  const sum = (pick: (each: MoveTimes) => number): number => times.reduce((total, each) => total + pick(each), 0);
  const spent = sum(({ beganAt, endedAt }) => endedAt - beganAt);
  const own = sum(({ beganAt, endedAt, fenceMs, engineMs }) => Math.max(0, endedAt - beganAt - fenceMs - engineMs));
  return spent === 0 ? 0 : (wallMs(times) * own) / spent;
}

export function wallMs(times: readonly MoveTimes[]): number {
  return Math.max(0, ...times.map(({ endedAt }) => endedAt)) - Math.min(...times.map(({ beganAt }) => beganAt));
}

/** Most moves that were under way at one moment. */
export function mostAtOnce(times: readonly MoveTimes[]): number {
  return Math.max(0, ...times.map(({ beganAt: at }) => times.filter(({ beganAt, endedAt }) => beganAt <= at && at < endedAt).length));
}
