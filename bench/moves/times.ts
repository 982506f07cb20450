import type { MovePhase } from "../../src/domain/move.ts";
import { LABEL_UNIT } from "../../src/domain/names.ts";
import { mapAt } from "../../src/runtime/kube/testing/json.ts";
import { metadataOf } from "../../src/runtime/kube/testing/object-rules.ts";
import type { Entry } from "../../src/simulation/history.ts";
import { isOperationUnderWay, REFRESH_ANNOTATION } from "../../src/simulation/models/engine/application.ts";
import { annotationsOf } from "../../src/simulation/models/kubernetes/server.ts";
import { textAt } from "../../src/simulation/models/kubernetes/text.ts";

/** How one move spent its time, in ms. */
export interface MoveTimes {
  readonly beganAt: number;
  readonly endedAt: number;
  /** From the revocation of the right to write until the new owner has compared everything with that right. */
  readonly gapMs: number;
  readonly fenceMs: number;
  /** The time in which an instance still had to do something it was asked for. */
  readonly engineMs: number;
}

interface Marks {
  readonly at: Map<MovePhase, number>;
  /** Applications of its unit that an instance was asked to refresh and has not compared yet. */
  readonly waiting: Set<string>;
  waitingSince: number;
  engineMs: number;
}

/** Reads the times of every move that ended by itself. `fenceMs`: for how long refusals have to be observed at least. */
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

/** The part of the total time in which moves neither observed refusals nor waited for an instance, in ms. */
export function managersMs(times: readonly MoveTimes[]): number {
  const sum = (pick: (each: MoveTimes) => number): number => times.reduce((total, each) => total + pick(each), 0);
  const spent = sum(({ beganAt, endedAt }) => endedAt - beganAt);
  const own = sum(({ beganAt, endedAt, fenceMs, engineMs }) => Math.max(0, endedAt - beganAt - fenceMs - engineMs));
  return spent === 0 ? 0 : (wallMs(times) * own) / spent;
}

export function wallMs(times: readonly MoveTimes[]): number {
  return Math.max(0, ...times.map(({ endedAt }) => endedAt)) - Math.min(...times.map(({ beganAt }) => beganAt));
}

/** The largest number of moves under way at one moment. */
export function mostAtOnce(times: readonly MoveTimes[]): number {
  return Math.max(0, ...times.map(({ beganAt: at }) => times.filter(({ beganAt, endedAt }) => beganAt <= at && at < endedAt).length));
}
