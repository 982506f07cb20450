import type { Millis } from "../domain/clock.ts";
import { cordonedBy } from "../domain/cordon.ts";
import type { Decision } from "../domain/decision.ts";
import type { Instance } from "../domain/instance.ts";
import type { Rollout, WaveInstance } from "../domain/rollout.ts";
import { assignDecision, holdDecision } from "./decisions.ts";
import { actorOf, isEmptied, isHeldBy, versionOf } from "./waves.ts";

/** What is to be changed of an instance's row, and, for logs, what that tells it. */
interface InstanceOrder {
  readonly row: Pick<Instance, "id" | "revision" | "state" | "reason" | "cause" | "attempt"> & {
    readonly desiredVersion?: string;
    readonly decision: Decision;
  };
  readonly reported: Readonly<Record<string, string>>;
}

/**
 * Brings an instance's row one step nearer to what a rollout says of it: takes new units away from one that is emptied, lets one that is not any
 * more have them again, and says which release to run. `undefined`: it is as it should be.
 */
export function orderedChangeOf(rollout: Rollout, one: WaveInstance, instance: Instance, now: Millis): InstanceOrder | undefined {
  const { id, revision, state, reason, cause, attempt } = instance;
  const keptEmpty = isEmptied(rollout, one);
  if (keptEmpty && state === "ACTIVE") {
    const why = `emptied before it is given ${rollout.version}`;
    const because = cordonedBy(actorOf(rollout), why, { code: "ROLLOUT", rollout: rollout.id });
    const decision = holdDecision(instance, { verdict: "CORDONED", reason: because.reason }, rollout, now);
    return { row: { id, revision, state: "CORDONED", ...because, attempt, decision }, reported: { state: "CORDONED" } };
  }
  if (!keptEmpty && isHeldBy(rollout, instance)) {
    const text = `uncordoned by ${actorOf(rollout)}`;
    const decision = holdDecision(instance, { verdict: "ACTIVE", reason: text }, rollout, now);
    return { row: { id, revision, state: "ACTIVE", reason: text, cause: undefined, attempt, decision }, reported: { state: "ACTIVE" } };
  }
  const version = versionOf(rollout, one);
  if (version === undefined || version === instance.desiredVersion) return undefined;
  const decision = assignDecision(instance, version, rollout, now);
  return {
    row: { id, revision, state, reason, cause, attempt, desiredVersion: version, decision },
    reported: { from: instance.version, version },
  };
}
