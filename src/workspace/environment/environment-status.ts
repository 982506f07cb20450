import { type Millis, rfc3339 } from "../../domain/clock.ts";
import type { Condition, ObservedResource } from "../../domain/user-resource.ts";
import { type ConditionStatement, datedConditions, pausedStatements, sortedStatements, verdictStatements } from "../status/conditions.ts";
import { CONNECTION_CONDITION, type EnvironmentFinding } from "./finding.ts";

export interface EnvironmentStatus {
  /** Absent where none was probed yet. */
  readonly observedGeneration?: number;
  readonly conditions: readonly Condition[];
}

/** The whole status of an environment; `undefined` when its resource says just this already. */
export function environmentStatus(resource: ObservedResource, finding: EnvironmentFinding, now: Millis): EnvironmentStatus | undefined {
  const { status, reason, message, kind } = finding;
  const sentence = message === "" ? "The cluster can be deployed to" : message;
  const statements: readonly ConditionStatement[] = sortedStatements([
    { type: CONNECTION_CONDITION, status, reason, message },
    ...verdictStatements({ kind, reason, message: sentence, generation: resource.generation }),
  ]);
  if (resource.observedGeneration === resource.generation && isShown(resource.conditions, statements)) return undefined;
  return { observedGeneration: resource.generation, conditions: datedConditions(statements, resource.conditions, rfc3339(now)) };
}

/** That an environment is not probed, beside what was said of it last; `undefined` when its resource says just this already. */
export function pausedEnvironmentStatus(resource: ObservedResource, now: Millis): EnvironmentStatus | undefined {
  const statements = sortedStatements(pausedStatements(resource.conditions, OWN));
  if (isShown(resource.conditions, statements)) return undefined;
  const { observedGeneration } = resource;
  return {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: datedConditions(statements, resource.conditions, rfc3339(now)),
  };
}

/** Types with their writer here; whatever else stands there is somebody else's. */
const OWN: ReadonlySet<string> = new Set([CONNECTION_CONDITION, "Ready", "Reconciling", "Stalled", "Paused"]);

function isShown(shown: readonly Condition[], statements: readonly ConditionStatement[]): boolean {
  if (shown.filter(({ type }) => OWN.has(type)).length !== statements.length) return false;
  return statements.every((statement) =>
    shown.some(
      ({ type, status, reason, message = "" }) =>
        type === statement.type && status === statement.status && reason === statement.reason && message === statement.message,
    ),
  );
}
