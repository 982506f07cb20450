import { type Millis, rfc3339 } from "../../domain/clock.ts";
import type { Condition, ObservedResource } from "../../domain/user-resource.ts";
import { type ConditionStatement, datedConditions, pausedStatements, verdictStatements } from "../status/conditions.ts";
import { type ConditionText, type CredentialFacts, type CredentialJudgement, judgeCredential } from "./findings.ts";

/** A whole status, ready to be written. */
export interface CredentialStatus {
  readonly observedGeneration?: number;
  readonly conditions: readonly Condition[];
}

/** Types that nobody but this controller writes on a credential. */
const OWN: ReadonlySet<string> = new Set([
  ...["Ready", "Reconciling", "Stalled", "Paused"],
  ...["ErrorOccurred", "ValidRepositoryURL", "ValidRepositoryCredential"],
]);

/**
 * What has to be written on a resource; `undefined` if it says it already or is none of ours. What was said last stays while it
 * is probed again: a condition that comes and goes with each probe would be of no use.
 */
export function statusToWrite(
  resource: ObservedResource,
  facts: CredentialFacts & { readonly isOurs: boolean },
  now: Millis,
): CredentialStatus | undefined {
  if (!facts.isOurs) return undefined;
  const wasJudged = resource.conditions.some(({ type }) => type === "ErrorOccurred");
  if (facts.finding.kind === "pending" && wasJudged && !resource.isPaused) return undefined;
  const status = resource.isPaused ? pausedStatusOf(resource, now) : statusOf(resource, judgeCredential(facts), now);
  return isSaid(resource, status) ? undefined : status;
}

/** What the user reads of a judgement about the resource as it is. */
function statusOf(resource: ObservedResource, judgement: CredentialJudgement, now: Millis): CredentialStatus {
  const { kind, reason, message, error, repository, credential } = judgement;
  const statements = [
    ...verdictStatements({ kind, reason, message, generation: resource.generation }),
    as("ErrorOccurred", error),
    as("ValidRepositoryURL", repository),
    as("ValidRepositoryCredential", credential),
  ];
  return { observedGeneration: resource.generation, conditions: datedConditions(statements, resource.conditions, rfc3339(now)) };
}

/** What was said before, and that nothing is being done. */
function pausedStatusOf(resource: ObservedResource, now: Millis): CredentialStatus {
  const statements = pausedStatements(resource.conditions, OWN);
  const { observedGeneration } = resource;
  return {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: datedConditions(statements, resource.conditions, rfc3339(now)),
  };
}

/** Whether the resource says just this; what others added to it does not matter. */
function isSaid(resource: Pick<ObservedResource, "conditions" | "observedGeneration">, status: CredentialStatus): boolean {
  const line = ({ type, status: is, reason = "", message = "" }: Condition): string => JSON.stringify([type, is, reason, message]);
  const shown = resource.conditions.filter(({ type }) => OWN.has(type)).map(line);
  const wanted = status.conditions.map(line);
  return resource.observedGeneration === status.observedGeneration && shown.toSorted().join("\n") === wanted.toSorted().join("\n");
}

function as(type: string, { status, reason, message }: ConditionText): ConditionStatement {
  return { type, status, reason, message };
}
