import { type Millis, rfc3339 } from "../../domain/clock.ts";
import type { DeclaredGroups } from "../../domain/deployable-kinds.ts";
import { contentHash } from "../../domain/hash.ts";
import { type HookResult, isFinished, NOT_BEGUN, type SyncRun } from "../../domain/sync-run.ts";
import type { Condition, ObservedResource } from "../../domain/user-resource.ts";
import type { Application } from "../../domain/workspace.ts";
import * as say from "../api/messages.ts";
import type { ReasonOf } from "../api/reasons.ts";
import type { SyncRunStatus } from "../api/sync-run/schema.ts";
import { describeProblems } from "../problem.ts";
import { type ConditionStatement, datedConditions, LONGEST_SAID, sortedStatements, verdictStatements } from "../status/conditions.ts";
import { plainText, type TextScope } from "../status/engine-text.ts";
import { oneLine } from "../status/one-line.ts";
import type { StatusVerdict } from "../status/verdict.ts";
import { parseRun } from "./parse-run.ts";

/** What the database knows of a run, as far as its user's status goes. */
export interface RunRecord {
  readonly run: SyncRun;
  readonly application: Pick<Application, "argoName" | "name" | "spec" | "deletedAt"> | undefined;
  readonly isPlaced: boolean;
  /** Unfinished runs that go first. */
  readonly ahead: number;
}

export interface RunStatusFacts {
  readonly resource: ObservedResource;
  /** The run's row, absent until it is recorded. */
  readonly record: RunRecord | undefined;
  /** Whether there is a deployment of the name. */
  readonly hasDeployment: boolean;
  /** Names that no user may ever read, longest first. */
  readonly hidden: readonly string[];
  readonly kinds: DeclaredGroups;
  /** Syncs a workspace may begin in a minute, where the run waits for its turn because of that. */
  readonly quota: number | undefined;
}

export interface ComposedRun {
  readonly status: Omit<SyncRunStatus, "conditions"> & { readonly conditions: readonly Condition[] };
  /** Of everything but the conditions' times: equal hashes need not be written twice. */
  readonly hash: string;
}

type Said = Pick<StatusVerdict<ReasonOf<"syncRun">>, "kind" | "reason" | "message" | "error">;

/** What the user of a GitOpsDeploymentSyncRun reads. */
export function composeRun(facts: RunStatusFacts, now: Millis): ComposedRun {
  const { resource, record } = facts;
  const scope = scopeOf(facts);
  const judged = judge(facts);
  const said = { ...judged, message: judged.error === undefined ? plainText(judged.message, scope) : oneLine(judged.error, LONGEST_SAID) };
  const progress = record?.run.progress ?? NOT_BEGUN;
  const statements = sortedStatements([...verdictStatements({ ...said, generation: undefined }), ...errorStatements(said)]);
  const body = {
    observedGeneration: resource.generation,
    phase: progress.phase,
    ...(progress.revision === "" ? {} : { revision: progress.revision }),
    ...(progress.startedAt === undefined ? {} : { startedAt: rfc3339(progress.startedAt) }),
    ...(progress.finishedAt === undefined ? {} : { finishedAt: rfc3339(progress.finishedAt) }),
    message: said.message,
    ...(progress.hooks.length === 0 ? {} : { hooks: progress.hooks.map((hook) => hookFields(hook, scope)) }),
  };
  const conditions = datedConditions(statements, resource.conditions, rfc3339(now));
  return { status: { ...body, conditions }, hash: contentHash({ ...body, statements }) };
}

/** Whether a resource shows what was composed, as far as its conditions tell: somebody may have edited or restored it. */
export function isRunShown(resource: ObservedResource, { status }: ComposedRun): boolean {
  const same = (a: Condition, b: Condition): boolean =>
    a.type === b.type && a.status === b.status && (a.reason ?? "") === (b.reason ?? "") && (a.message ?? "") === (b.message ?? "");
  return (
    resource.observedGeneration === status.observedGeneration &&
    status.conditions.every((condition) => resource.conditions.some((shown) => same(shown, condition)))
  );
}

function judge(facts: RunStatusFacts): Said {
  const { resource, record } = facts;
  if (record !== undefined && isFinished(record.run.progress.phase)) return judgeEnd(record);
  if (resource.isDeleting || record?.run.isCancelled === true)
    return { kind: "moving", reason: "Terminating", message: "Waiting until the sync has ended" };
  const parsed = parseRun(resource);
  if (!parsed.ok) return wrong("InvalidSpec", describeProblems(parsed.problems, record !== undefined));
  if (record === undefined && resource.isPaused)
    return { kind: "resting", reason: "Paused", message: 'Nothing begins while the annotation argosy.dev/paused is "true"' };
  if (record === undefined && facts.quota !== undefined) return judgeQuota(facts.quota);
  if (record?.application === undefined) return judgeMissing(facts, parsed.request.deployment);
  return record.run.progress.phase === "Running"
    ? { kind: "moving", reason: "Running", message: record.run.progress.message || "The sync is under way" }
    : judgeWaiting(resource, record, record.application);
}

function judgeEnd({ run: { progress, revision } }: RunRecord): Said {
  const at = progress.revision || revision;
  if (progress.phase === "Succeeded")
    return { kind: "ready", reason: "Succeeded", message: progress.message || `What revision ${at} says was deployed` };
  const message = progress.message || "The sync did not take place";
  return { kind: "stuck", reason: progress.phase, message };
}

function judgeQuota(quota: number): Said {
  const syncs = quota === 1 ? "one sync" : `${quota} syncs`;
  return { kind: "moving", reason: "QuotaExceeded", message: `This namespace may begin ${syncs} a minute: this one begins when it may` };
}

/** The deployment may be there and not be accepted (yet): its own status says why. */
function judgeMissing({ hasDeployment }: RunStatusFacts, deployment: string): Said {
  if (hasDeployment)
    return {
      kind: "moving",
      reason: "WaitingForDeployment",
      message: `Waiting until the deployment '${deployment}' is accepted: see its status`,
    };
  return { ...wrong("DeploymentNotFound", say.RUN_DEPLOYMENT_UNKNOWN(deployment)), kind: "moving" };
}

function judgeWaiting(
  resource: ObservedResource,
  { ahead, isPlaced }: RunRecord,
  application: Pick<Application, "spec" | "deletedAt">,
): Said {
  if (application.deletedAt !== undefined)
    return {
      kind: "moving",
      reason: "DeploymentDeleting",
      message: "The deployment is being deleted: the run waits up to an hour for another one of its name",
    };
  if (application.spec.type === "automated") return wrong("DeploymentAutomated", say.RUN_DEPLOYMENT_AUTOMATED(resource.name));
  if (!isPlaced)
    return {
      kind: "moving",
      reason: "WaitingForCapacity",
      message: "There is no room for the deployment at the moment: it goes on as soon as there is",
    };
  if (ahead > 0)
    return { kind: "moving", reason: "Queued", message: `Waiting for ${ahead} earlier ${ahead === 1 ? "run" : "runs"} of this deployment` };
  return {
    kind: "moving",
    reason: "Pending",
    message: "Waiting until the deployment's latest change is applied, which its status tells of, and no other sync is under way",
  };
}

function wrong(reason: ReasonOf<"syncRun">, error: string): Said {
  return { kind: "stuck", reason, message: error, error };
}

/** As it was: `False`, without words, once a sync has taken place; otherwise only while something is wrong, or has gone wrong. */
function errorStatements({ kind, reason, message, error }: Said): readonly ConditionStatement[] {
  const type = "ErrorOccurred";
  if (error !== undefined || reason === "Failed") return [{ type, status: "True", reason: type, message: error ?? message }];
  return kind === "ready" ? [{ type, status: "False", reason: "", message: "" }] : [];
}

function scopeOf({ resource, record, hidden, kinds }: RunStatusFacts): TextScope {
  const application = record?.application;
  const environment = application?.spec.destination.environment;
  return {
    argoName: application?.argoName ?? "",
    name: application?.name ?? "",
    hidden,
    own: application?.spec.source.repoUrl ?? "",
    destination: {
      ownNamespace: resource.namespace,
      kinds,
      ...(environment === undefined ? {} : { environment: { name: environment, namespaces: [] } }),
    },
  };
}

/** Empty fields are left out. */
function hookFields(hook: HookResult, scope: TextScope): NonNullable<SyncRunStatus["hooks"]>[number] {
  return Object.fromEntries(Object.entries({ ...hook, message: plainText(hook.message, scope) }).filter(([, value]) => value !== ""));
}
