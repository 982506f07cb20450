import type { Millis } from "../../domain/clock.ts";
import type { MoveBaseline } from "../../domain/move.ts";
import type { HealthState } from "../../domain/status.ts";
import { letLoose, OBSERVE_NOW } from "../../shard/arrival.ts";
import { diffObject, guards } from "../../shard/diff-object.ts";
import { type DesiredObject, manifestOf } from "../../shard/managed-object.ts";
import type { ApplicationObservation } from "../../shard/parse-observation.ts";
import { DONE, FENCED, type ObjectStep, removeStep, wait, write } from "./object-step.ts";
import { isNewer, isUnfit, type Pair } from "./pair.ts";
import { renderArrival } from "./prepare.ts";

/**
 * ACTIVATE: the next step that makes an application work on its new owner. It gets what its row says now, is unpaused, and is asked for a
 * refresh, without which Argo CD may believe the copied status for minutes. It is done once Argo CD has refreshed it after `since`. An
 * application that its user deletes stays as it is: the owner deletes it after the move.
 */
export function activate({ desired, isLeaving, source, target, isSourceUnknown }: Pair, epoch: number, since: Millis): ObjectStep {
  if (desired === undefined || (isLeaving && (target !== undefined || (source === undefined && !isSourceUnknown)))) return DONE;
  if (target === undefined) return makeAnew(desired, isLeaving && isSourceUnknown);
  if (isNewer(target, epoch)) return FENCED;
  if (isUnfit(target, epoch)) return removeStep("target", target);
  if (target.isPaused || target.arrival !== undefined) return activateCopy(target, desired);
  const reconciledAt = target.report?.reconciledAt;
  // Argo CD's times are in whole seconds.
  const isRefreshed = !target.awaitsRefresh && reconciledAt !== undefined && reconciledAt >= since - (since % 1000);
  return isRefreshed ? DONE : wait(`for the new owner to refresh ${target.at.name}`);
}

/** An application that its user deletes may be gone from the cluster by now: it is made paused, or it would deploy everything again. */
function makeAnew(desired: DesiredObject, isIdle: boolean): ObjectStep {
  return write("target", { kind: "create", manifest: isIdle ? renderArrival(desired) : manifestOf(desired) });
}

function activateCopy(target: ApplicationObservation, desired: DesiredObject): ObjectStep {
  const action = diffObject(desired, target);
  if (action.kind === "fenced") return FENCED;
  const content = action.kind === "change" ? action.patch : guards(target);
  return write("target", { kind: "change", at: target.at, patch: [...content, ...letLoose(target), OBSERVE_NOW] });
}

/** From good to bad; unknown is worst. */
const HEALTH_RANK: Readonly<Record<HealthState, number>> = {
  Healthy: 0,
  Suspended: 1,
  Progressing: 2,
  Degraded: 3,
  Missing: 4,
  Unknown: 5,
};
/** Conditions that say that two Applications have the same object, or that one cannot compare. */
const GRAVE: readonly string[] = [
  "ComparisonError",
  "InvalidSpecError",
  "UnknownError",
  "SharedResourceWarning",
  "RepeatedResourceWarning",
];

/** VERIFY: waits until an application is no worse than before the move. Being out of sync is not worse: somebody may just have pushed. */
export function verify({ name, desired, isLeaving, target }: Pair, baseline: readonly MoveBaseline[]): ObjectStep {
  const before = baseline.find((each) => each.name === name);
  if (before === undefined || isLeaving || desired === undefined) return DONE;
  const why = target === undefined ? "it is not there" : worse(before, target);
  return why === undefined ? DONE : wait(`for ${name} to be as well as before: ${why}`);
}

function worse(before: MoveBaseline, { report }: ApplicationObservation): string | undefined {
  if (report === undefined) return "nothing is known of it";
  const { sync, health, conditions } = report.status;
  const complaint = conditions.find(({ type }) => GRAVE.includes(type) && !before.conditions.includes(type));
  if (complaint !== undefined) return complaint.message;
  if (sync.status === "Unknown" && before.sync !== "Unknown") return "whether it is in step with Git is not known";
  const isWorse = HEALTH_RANK[health.status] > HEALTH_RANK[before.health] && health.status !== "Progressing";
  return isWorse ? `it is ${health.status}` : undefined;
}
