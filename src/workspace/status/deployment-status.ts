import { type Millis, rfc3339 } from "../../domain/clock.ts";
import { contentHash } from "../../domain/hash.ts";
import type { EngineStatus, ResourceStatus } from "../../domain/status.ts";
import type { Condition, ObservedDeployment } from "../../domain/user-resource.ts";
import type { DeploymentStatus } from "../api/schema.ts";
import {
  type ConditionStatement,
  datedConditions,
  errorStatements,
  mirroredStatements,
  PAUSED,
  sortedStatements,
  verdictStatements,
} from "./conditions.ts";
import { NOT_YOURS } from "./engine-sentences.ts";
import { plainMessages, plainText, type TextScope } from "./engine-text.ts";
import { inOwnSpelling } from "./own-spelling.ts";
import { type DeploymentRecord, destinationOf, judgeStatus, type StatusFacts, type StatusVerdict } from "./verdict.ts";

/** A whole status, ready to be written. */
type UserStatus = Omit<DeploymentStatus, "conditions"> & { readonly conditions: readonly Condition[] };

export interface ComposedStatus {
  readonly status: UserStatus;
  /** Of everything but times: equal hashes need not be written twice. */
  readonly hash: string;
  readonly verdict: StatusVerdict;
}

/**
 * What the user of a GitOpsDeployment reads. Sync and health are the engine's, as it last said them, whatever has become
 * of the resource since; `observedGeneration` only names a generation they answer.
 */
export function composeStatus(seen: StatusFacts, now: Millis): ComposedStatus {
  const facts = { ...seen, record: inOwnSpelling(seen.record) };
  const { resource, record } = facts;
  const scope = scopeOf(facts);
  const engine = record?.status === undefined ? undefined : plainEngine(record.status.status, scope);
  const judged = judgeStatus(facts, now);
  const verdict = { ...judged, message: judged.error === undefined ? plainText(judged.message, scope) : judged.message };
  const statements = sortedStatements([
    ...verdictStatements(verdict),
    ...errorStatements(verdict.error, resource.conditions),
    ...mirroredStatements(engine?.conditions, resource.conditions),
    ...pauseStatements(resource),
    ...truncatedStatements(engine),
  ]);
  const body = { ...(verdict.generation === undefined ? {} : { observedGeneration: verdict.generation }), ...engineFields(engine, record) };
  const conditions = datedConditions(statements, resource.conditions, rfc3339(now));
  return { status: { ...body, conditions }, hash: contentHash({ ...body, statements }), verdict };
}

/** Whether a resource shows what was composed, as far as its conditions tell: somebody may have edited or restored it. */
export function isShown(resource: ObservedDeployment, { status }: ComposedStatus): boolean {
  return (
    resource.observedGeneration === status.observedGeneration &&
    status.conditions.every((condition) =>
      resource.conditions.some(
        (shown) =>
          shown.type === condition.type &&
          shown.status === condition.status &&
          shown.reason === condition.reason &&
          (shown.message ?? "") === condition.message,
      ),
    )
  );
}

export interface PublicationFacts {
  readonly resource: ObservedDeployment;
  readonly composed: ComposedStatus;
  /** Hash of what was written last; absent where there is no row to keep it. */
  readonly publishedHash: string | undefined;
}

/**
 * Why a status has to be written; `undefined` if the resource says it already. The hash covers everything that is written,
 * the conditions seen tell whether somebody else took it away again.
 */
export function whyPublish({ resource, composed, publishedHash }: PublicationFacts): "new" | "lost" | undefined {
  if (publishedHash !== undefined && publishedHash !== composed.hash) return "new";
  return isShown(resource, composed) ? undefined : "lost";
}

function scopeOf({ resource, record, policy }: StatusFacts): TextScope {
  return {
    argoName: record?.application.argoName ?? "",
    name: resource.name,
    hidden: policy.hidden,
    destination: { ...destinationOf(resource, record), kinds: policy.kinds },
    own: `${record?.application.spec.source.repoUrl ?? ""} ${record?.environment?.apiUrl ?? ""}`,
  };
}

function plainEngine(status: EngineStatus, scope: TextScope): EngineStatus {
  return {
    ...status,
    health: { ...status.health, message: plainText(status.health.message, scope) },
    // What Argo CD itself calls unknown are mistakes inside it.
    conditions: status.conditions.map(({ type, message }) => ({
      type,
      message: type === "UnknownError" ? NOT_YOURS : plainText(message, scope),
    })),
    resources: plainMessages(status.resources, scope) as readonly ResourceStatus[],
    operationState: plainMessages(status.operationState, scope) as EngineStatus["operationState"],
  };
}

function pauseStatements({ isPaused }: ObservedDeployment): readonly ConditionStatement[] {
  return isPaused ? [PAUSED] : [];
}

function truncatedStatements(engine: EngineStatus | undefined): readonly ConditionStatement[] {
  if (engine === undefined || engine.resourceCount <= engine.resources.length) return [];
  const message = `Only ${engine.resources.length} of ${engine.resourceCount} objects are listed`;
  return [{ type: "ResourcesTruncated", status: "True", reason: "TooManyResources", message }];
}

type EngineFields = Omit<DeploymentStatus, "conditions" | "observedGeneration">;

/** The own namespace has no name, nor has an environment that is not the application's any more. */
function environmentName({ environmentId }: EngineStatus["comparedTo"], record: DeploymentRecord | undefined): string {
  const environment = record?.environment;
  return environmentId !== undefined && environment?.id === environmentId ? environment.name : "";
}

function engineFields(engine: EngineStatus | undefined, record: DeploymentRecord | undefined): EngineFields {
  if (engine === undefined)
    return { reconciledState: { source: { path: "", repoURL: "", branch: "" }, destination: { name: "", namespace: "" } } };
  const { comparedTo, sync, health } = engine;
  return {
    sync: { status: sync.status, ...(sync.revision === "" ? {} : { revision: sync.revision }) },
    health: { status: health.status, ...(health.message === "" ? {} : { message: health.message }) },
    resources: engine.resources.map(resourceFields),
    ...(engine.resourceCount > engine.resources.length ? { resourceCount: engine.resourceCount } : {}),
    reconciledState: {
      source: { path: comparedTo.path, repoURL: comparedTo.repoUrl, branch: comparedTo.targetRevision },
      destination: { name: environmentName(comparedTo, record), namespace: comparedTo.namespace },
    },
    ...(engine.operationState === undefined ? {} : { operationState: engine.operationState }),
  };
}

/** Empty fields are left out, as they are where the API server itself writes such lists. */
function resourceFields({ health, ...resource }: ResourceStatus): NonNullable<DeploymentStatus["resources"]>[number] {
  const fields = Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== ""));
  return { ...fields, ...(health === undefined ? {} : { health: { ...health } }) };
}
