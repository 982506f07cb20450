import type { Millis } from "../domain/clock.ts";
import { cordonedBy } from "../domain/cordon.ts";
import type { Decision } from "../domain/decision.ts";
import type { Instance } from "../domain/instance.ts";
import type { Rollout, WaveInstance } from "../domain/rollout.ts";
import { assignDecision, rolloutCordonDecision } from "./decisions.ts";
import { actorOf, isBeingEmptied, isCordonedBy, versionOf } from "./waves.ts";

/** A change of an instance's row, and what the log says about it. */
interface InstanceOrder {
  readonly row: Pick<Instance, "id" | "revision" | "state" | "reason" | "cause" | "attempt"> & {
    readonly desiredVersion?: string;
    readonly decision: Decision;
  };
  readonly logged: Readonly<Record<string, string>>;
}

/**
 * The next change of an instance's row that a rollout orders: cordon it while it is being emptied, uncordon it when
 * that has ended, then assign its release. `undefined`: the row is as it should be.
 */
export function orderedChangeOf(rollout: Rollout, one: WaveInstance, instance: Instance, now: Millis): InstanceOrder | undefined {
  const { id, revision, state, reason, cause, attempt } = instance;
  const isKeptCordoned = isBeingEmptied(rollout, one);
  if (isKeptCordoned && state === "ACTIVE") {
    const why = `emptied before it is given ${rollout.version}`;
    const because = cordonedBy(actorOf(rollout), why, { code: "ROLLOUT", rollout: rollout.id });
    const decision = rolloutCordonDecision(instance, { verdict: "CORDONED", reason: because.reason }, rollout, now);
    return { row: { id, revision, state: "CORDONED", ...because, attempt, decision }, logged: { state: "CORDONED" } };
  }
  if (!isKeptCordoned && isCordonedBy(rollout, instance)) {
    const text = `uncordoned by ${actorOf(rollout)}`;
    const decision = rolloutCordonDecision(instance, { verdict: "ACTIVE", reason: text }, rollout, now);
    return { row: { id, revision, state: "ACTIVE", reason: text, cause: undefined, attempt, decision }, logged: { state: "ACTIVE" } };
  }
  const version = versionOf(rollout, one);
  if (version === undefined || version === instance.desiredVersion) return undefined;
  const decision = assignDecision(instance, version, rollout, now);
  return {
    row: { id, revision, state, reason, cause, attempt, desiredVersion: version, decision },
    logged: { from: instance.version, version },
  };
}
