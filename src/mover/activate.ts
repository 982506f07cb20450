import type { Millis } from "../domain/clock.ts";
import type { MoveBaseline } from "../domain/move.ts";
import type { HealthState } from "../domain/status.ts";
import { LOOK_NOW, letLoose } from "../shard/arrival.ts";
import { diffObject, guards } from "../shard/diff-object.ts";
import { type DesiredObject, manifestOf } from "../shard/managed-object.ts";
import type { Sight } from "../shard/parse-sight.ts";
import { isNewer, isUnfit, type Pair } from "./pair.ts";
import { renderArrival } from "./prepare.ts";
import { DONE, FENCED, remove, type Verdict, wait, write } from "./verdict.ts";

/**
 * The next step that makes an application work on its new owner: what its row wants now, unpaused, and a request to look, without which a
 * copied status may be believed for minutes. Done once Argo CD has looked since (`since`). One that its user deletes stays as it is: its
 * owner deletes it after the move.
 */
export function activate({ desired, isLeaving, source, target, isSourceUnknown }: Pair, epoch: number, since: Millis): Verdict {
  if (desired === undefined || (isLeaving && (target !== undefined || (source === undefined && !isSourceUnknown)))) return DONE;
  if (target === undefined) return makeAnew(desired, isLeaving && isSourceUnknown);
  if (isNewer(target, epoch)) return FENCED;
  if (isUnfit(target, epoch)) return remove("target", target);
  if (target.isPaused || target.arrival !== undefined) return activateCopy(target, desired);
  const reconciledAt = target.report?.reconciledAt;
  // Argo CD's times have whole seconds.
  const hasLooked = !target.awaitsRefresh && reconciledAt !== undefined && reconciledAt >= since - (since % 1000);
  return hasLooked ? DONE : wait(`for the new owner to look at ${target.at.name}`);
}

/** What was deleted and may be gone from the cluster by now is not to come back for the end of its deletion. */
function makeAnew(desired: DesiredObject, isIdle: boolean): Verdict {
  return write("target", { kind: "create", manifest: isIdle ? renderArrival(desired) : manifestOf(desired) });
}

function activateCopy(target: Sight, desired: DesiredObject): Verdict {
  const action = diffObject(desired, target);
  if (action.kind === "fenced") return FENCED;
  const content = action.kind === "change" ? action.patch : guards(target);
  return write("target", { kind: "change", at: target.at, patch: [...content, ...letLoose(target), LOOK_NOW] });
}

/** From good to bad; what cannot be told is worst. */
const HEALTH_RANK: Readonly<Record<HealthState, number>> = {
  Healthy: 0,
  Suspended: 1,
  Progressing: 2,
  Degraded: 3,
  Missing: 4,
  Unknown: 5,
};
/** Conditions that say that two look after the same, or that one cannot. */
const GRAVE: readonly string[] = [
  "ComparisonError",
  "InvalidSpecError",
  "UnknownError",
  "SharedResourceWarning",
  "RepeatedResourceWarning",
];

/** Whether an application does no worse than before. Out of step with Git is not worse: somebody may just have pushed. */
export function verify({ name, desired, isLeaving, target }: Pair, baseline: readonly MoveBaseline[]): Verdict {
  const before = baseline.find((each) => each.name === name);
  if (before === undefined || isLeaving || desired === undefined) return DONE;
  const why = target === undefined ? "it is not there" : worse(before, target);
  return why === undefined ? DONE : wait(`for ${name} to be as well as before: ${why}`);
}

function worse(before: MoveBaseline, { report }: Sight): string | undefined {
  if (report === undefined) return "nothing is known of it";
  const { sync, health, conditions } = report.status;
  const complaint = conditions.find(({ type }) => GRAVE.includes(type) && !before.conditions.includes(type));
  if (complaint !== undefined) return complaint.message;
  if (sync.status === "Unknown" && before.sync !== "Unknown") return "whether it is in step with Git is not known";
  const isWorse = HEALTH_RANK[health.status] > HEALTH_RANK[before.health] && health.status !== "Progressing";
  return isWorse ? `it is ${health.status}` : undefined;
}
