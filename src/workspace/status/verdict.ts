import { BLOCKED_AFTER_MS, type Blockage, heldText } from "../../domain/blockage.ts";
import type { Millis } from "../../domain/clock.ts";
import type { Environment } from "../../domain/environment.ts";
import { type RepositoryAccess, SPELLINGS_AT_MOST } from "../../domain/repository-access.ts";
import type { EngineStatus } from "../../domain/status.ts";
import { withCulprits } from "../../domain/sync-failure.ts";
import type { ObservedDeployment } from "../../domain/user-resource.ts";
import { isWithheld, weightText } from "../../domain/withholding.ts";
import type { Application, PlacementUnit } from "../../domain/workspace.ts";
import * as say from "../api/messages.ts";
import type { ReasonOf } from "../api/reasons.ts";
import { parseDeployment } from "../deployment/parse-deployment.ts";
import { describeProblems } from "../problem.ts";
import { isWithinQuota, oneTooManyText } from "../quota.ts";
import { parseRepositoryAddress } from "../repository-credential/repository-address.ts";
import type { WorkspacePolicy } from "../workspace-policy.ts";
import { isOurSentence, NOT_YOURS, type ReportedDestination } from "./engine-sentences.ts";
import { troubleText } from "./trouble-text.ts";
import { worstObjectText } from "./worst-object.ts";

/** What the database knows of a deployment, as far as its user's status goes. */
export interface DeploymentRecord {
  readonly application: Pick<Application, "id" | "generation" | "spec" | "argoName" | "name" | "deletedAt">;
  readonly unit: Pick<PlacementUnit, "owner">;
  readonly isUnplaceable: boolean;
  /** Of a deletion that hangs. */
  readonly blockage?: Blockage | undefined;
  /** Why what is wanted is not on its instance yet, as that says, for SREs. */
  readonly trouble?: string | undefined;
  /** What its destination names, as far as it is known. */
  readonly environment: Pick<Environment, "id" | "name" | "state" | "apiUrl" | "namespaces" | "withheld"> | undefined;
  readonly status: { readonly status: EngineStatus } | undefined;
  /** Whether its repository can be read; absent: that counts as known. */
  readonly access?: RepositoryAccess | undefined;
}

export interface StatusFacts {
  readonly resource: ObservedDeployment;
  /** All resources of the namespace, this one included. */
  readonly siblings: readonly ObservedDeployment[];
  /** Whether the resource of a uid was let in before. */
  readonly isAdmitted: (uid: string) => boolean;
  /** Deployments that the workspace may have. */
  readonly mayHave: number;
  /** The resource's row, absent until it is recorded. */
  readonly record: DeploymentRecord | undefined;
  readonly policy: WorkspacePolicy;
}

/**
 * How a deployment is doing, in one word and a sentence.
 * `ready`: as Git wants it; `moving`: something is being done about it; `stuck`: nothing more happens until somebody
 * changes something; `resting`: not as Git wants it, and as it should be.
 */
export interface StatusVerdict<Reason extends string = ReasonOf<"deployment">> {
  readonly kind: "ready" | "moving" | "stuck" | "resting";
  readonly reason: Reason;
  readonly message: string;
  /** The user's resource is wrong, and how. */
  readonly error?: string;
  /** The generation this verdict is about; absent while the engine's answer to it is still to come. */
  readonly generation: number | undefined;
}

/** Argo CD's own complaints that stop a deployment, the gravest first. */
const STOPPING = ["InvalidSpecError", "ComparisonError", "UnknownError", "SyncError"] as const;

type Said = Omit<StatusVerdict, "generation"> & { readonly generation?: number | undefined };

/** Judges a deployment from its resource, its row and what the engine last said. */
export function judgeStatus(facts: StatusFacts, now: Millis): StatusVerdict {
  const { resource, record } = facts;
  const said = resource.isDeleting ? judgeDeletion(resource, record, now) : (judgeResource(facts) ?? judgeRecord(facts));
  return { generation: resource.generation, ...said };
}

/** What the resource itself says, whatever is deployed. */
function judgeResource(facts: StatusFacts): Said | undefined {
  const { resource, record, policy, siblings, isAdmitted, mayHave } = facts;
  if (resource.isPaused && record?.application.generation !== resource.generation) {
    return {
      kind: "resting",
      reason: "Paused",
      message: 'Changes are not acted on while the annotation argosy.dev/paused is "true"',
      generation: record?.application.generation,
    };
  }
  if (resource.isOneTooMany === true) {
    const error = oneTooManyText("GitOpsDeployments");
    return { kind: "stuck", reason: "QuotaExceeded", message: error, error };
  }
  const parsed = parseDeployment(resource, policy.egress);
  if (!parsed.ok) {
    const error = describeProblems(parsed.problems, record !== undefined);
    return { kind: "stuck", reason: "InvalidSpec", message: error, error };
  }
  if (record === undefined && policy.newUnit !== undefined && !isWithinQuota(resource, { siblings, limit: mayHave, isAdmitted })) {
    const error = `This namespace may have at most ${mayHave} deployments: delete another one, or ask your administrator for more`;
    return { kind: "stuck", reason: "QuotaExceeded", message: error, error };
  }
  return undefined;
}

/** A deletion that goes on for long is said to be blocked even if the engine has nothing to say about it. */
function judgeDeletion(resource: ObservedDeployment, record: DeploymentRecord | undefined, now: Millis): Said {
  const held = record?.blockage?.held ?? [];
  if (held.length > 0) return { kind: "stuck", reason: "DeletionBlocked", message: `What was deployed is not gone: ${heldText(held)}` };
  const complaint = record?.status?.status.conditions.find(({ type }) => type === "DeletionError");
  if (complaint !== undefined && isOurSentence(complaint.message, destinationOf(resource, record)))
    return { kind: "moving", reason: "Deleting", message: NOT_YOURS };
  if (complaint !== undefined) return { kind: "stuck", reason: "DeletionBlocked", message: complaint.message };
  const since = record?.application.deletedAt;
  if (since === undefined || now - since <= BLOCKED_AFTER_MS)
    return { kind: "moving", reason: "Deleting", message: "Waiting until what was deployed is gone" };
  const { environment } = record?.application.spec.destination ?? {};
  const where = environment === undefined ? "" : `on the cluster of environment ${environment} `;
  return {
    kind: "stuck",
    reason: "DeletionBlocked",
    message: `What was deployed is not gone after five minutes: look ${where}for objects that are held by a finalizer`,
  };
}

/** The original's words: one sentence for what never was deployed, another for what was. What was measured, where that is why. */
function judgeEnvironment(record: DeploymentRecord | undefined): Said | undefined {
  if (record?.application.spec.destination.environment === undefined || record.environment?.state === "connected") return undefined;
  const { withheld } = record.environment ?? {};
  if (record.environment !== undefined && isWithheld(withheld)) {
    const message = `Environment ${record.environment.name} is not used at the moment: ${weightText(withheld)}. What is deployed stays as it is; the conditions of the GitOpsDeploymentManagedEnvironment say what to do`;
    return { kind: "stuck", reason: "EnvironmentUnavailable", message, error: message };
  }
  const error = record.status === undefined ? say.ENVIRONMENT_UNKNOWN : say.ENVIRONMENT_UNKNOWN_ON_UPDATE;
  return { kind: "stuck", reason: "EnvironmentUnavailable", message: error, error };
}

function judgeRecord({ resource, record, policy }: StatusFacts): Said {
  const unavailable = judgeEnvironment(record);
  if (unavailable !== undefined) return unavailable;
  const unread = record === undefined ? undefined : judgeAccess(record, policy);
  if (unread !== undefined) return unread;
  const isHomeless = record === undefined ? policy.newUnit === undefined : record.unit.owner === undefined && record.isUnplaceable;
  if (isHomeless)
    return {
      kind: "moving",
      reason: "WaitingForCapacity",
      message: "There is no room for this deployment at the moment: it goes on as soon as there is",
    };
  if (record?.status === undefined) {
    const message =
      record?.trouble === undefined ? "Waiting for the first comparison with Git" : `Not deployed yet. ${troubleText(record.trouble)}`;
    return { kind: "moving", reason: "Reconciling", message };
  }
  const { status } = record.status;
  const isAnswer = record.application.generation >= resource.generation && isAbout(status, record);
  return isAnswer || resource.isPaused ? judgeEngine(status, record, resource) : judgeStale(status, record, resource);
}

/**
 * The status shown is still that of the generation before, so it may not pass for the new one's. A spec the engine refuses is
 * never compared with Git at all: that complaint may well be about the new one.
 */
function judgeStale({ conditions }: EngineStatus, record: DeploymentRecord, resource: ObservedDeployment): Said {
  const { trouble } = record;
  const destination = destinationOf(resource, record);
  const invalid = conditions.find(({ type, message }) => type === "InvalidSpecError" && !isOurSentence(message, destination));
  if (invalid !== undefined)
    return {
      kind: "stuck",
      reason: "InvalidSpecError",
      message: invalid.message,
      generation: resource.observedGeneration ?? resource.generation,
    };
  const message =
    trouble === undefined ? "The latest change is being applied" : `The latest change is not applied yet. ${troubleText(trouble)}`;
  return { kind: "moving", reason: "Reconciling", message, generation: resource.observedGeneration };
}

/** Whether the engine compared with what the row wants now, where the row wants it. */
function isAbout({ comparedTo }: EngineStatus, { application: { spec }, environment }: DeploymentRecord): boolean {
  const { source, destination } = spec;
  const isSource =
    comparedTo.repoUrl === source.repoUrl && comparedTo.path === source.path && comparedTo.targetRevision === source.targetRevision;
  if (destination.environment === undefined) return isSource && comparedTo.environmentId === undefined;
  return isSource && comparedTo.environmentId === environment?.id && comparedTo.namespace === destination.namespace;
}

/** What the destination of a deployment is called by its user. */
export function destinationOf(
  { namespace: ownNamespace }: ObservedDeployment,
  record: DeploymentRecord | undefined,
): Omit<ReportedDestination, "kinds"> {
  const name = record?.application.spec.destination.environment;
  return name === undefined ? { ownNamespace } : { ownNamespace, environment: { name, namespaces: record?.environment?.namespaces ?? [] } };
}

const WAITING_FOR_US = { kind: "moving", reason: "Reconciling", message: NOT_YOURS } as const;

function judgeEngine(status: EngineStatus, record: DeploymentRecord, resource: ObservedDeployment): Said {
  const destination = destinationOf(resource, record);
  const complaints = STOPPING.flatMap((type) => status.conditions.filter((condition) => condition.type === type).slice(0, 1));
  // Whatever else it says: without its parts it can judge nothing.
  if (complaints.some(({ type, message }) => type === "UnknownError" || isOurSentence(message, destination))) return WAITING_FOR_US;
  const [complaint] = complaints;
  if (complaint !== undefined) {
    const type = complaint.type as (typeof STOPPING)[number];
    return { kind: "stuck", reason: type, message: type === "SyncError" ? failureText(complaint.message, status) : complaint.message };
  }
  return judgeSync(status, record, resource) ?? judgeHealth(status);
}

function judgeSync(status: EngineStatus, record: DeploymentRecord, resource: ObservedDeployment): Said | undefined {
  const { sync } = status;
  if (sync.status === "Synced") return undefined;
  if (sync.status === "Unknown") return { kind: "moving", reason: "Reconciling", message: "Comparing with Git" };
  if (record.application.spec.type === "automated") {
    const attempt = judgeAttempt(status, resource);
    return isOurSentence(attempt.message, destinationOf(resource, record)) ? WAITING_FOR_US : { kind: "moving", ...attempt };
  }
  return {
    kind: "resting",
    reason: "OutOfSync",
    message: "Git says something else than what is deployed: create a GitOpsDeploymentSyncRun to deploy it",
  };
}

/** What Argo CD says of a sync that failed, with what it failed of; the results it has are those of the last sync. */
function failureText(message: string, { operationState }: Pick<EngineStatus, "operationState">): string {
  const { phase, finishedAt, syncResult } = operationState ?? {};
  const isOver = phase === "Failed" || phase === "Error" || (phase === "Running" && finishedAt !== undefined);
  return isOver ? withCulprits(message, (syncResult as { readonly resources?: unknown } | undefined)?.resources) : message;
}

/** A sync that is to be tried again runs on, with the end and the words of the attempt that failed. */
function judgeAttempt({ operationState }: EngineStatus, { conditions }: ObservedDeployment): Pick<Said, "reason" | "message"> {
  const { phase, finishedAt, message, retryCount } = operationState ?? {};
  const deploying = { reason: "OutOfSync", message: "Deploying what Git says" } as const;
  if (phase !== "Running") return deploying;
  if (finishedAt === undefined || typeof message !== "string") {
    // The next attempt is under way. What the last one failed of is true until this one has ended otherwise, and an engine says it no more.
    const before = conditions.find(({ type, reason }) => type === "Ready" && reason === "SyncFailed");
    const isNext = typeof retryCount === "number" && retryCount > 0;
    return isNext && before !== undefined ? { reason: "SyncFailed", message: before.message ?? "" } : deploying;
  }
  // When the next attempt is due changes with each, and is nothing to act on.
  const said = failureText(message.replace(/ Retrying attempt #\d+ at [^ ]+$/, ""), { operationState });
  return { reason: "SyncFailed", message: `Deploying what Git says, which failed and is tried again: ${said}` };
}

function judgeHealth(status: EngineStatus): Said {
  const { health } = status;
  const worst = worstObjectText(status) ?? (health.message === "" ? undefined : health.message);
  switch (health.status) {
    case "Healthy":
      return { kind: "ready", reason: "Synced", message: "What Git says is deployed and healthy" };
    case "Degraded":
      return { kind: "resting", reason: "Degraded", message: worst ?? "Something that was deployed is not healthy" };
    case "Suspended":
      return { kind: "resting", reason: "Suspended", message: worst ?? "Something that was deployed is suspended" };
    case "Progressing":
    case "Missing":
    case "Unknown": {
      const waiting = "Waiting until what was deployed is healthy";
      return { kind: "moving", reason: health.status, message: worst === undefined ? waiting : `${waiting}: ${worst}` };
    }
  }
}

/** What a deployment waits for whose repository was not seen to be readable, or is no more; `undefined`: it waits for nothing of that. */
function judgeAccess({ application, access }: DeploymentRecord, policy: WorkspacePolicy): Said | undefined {
  if (access === undefined || access.state === "proven") return undefined;
  const said = outcomeSaid(application.spec.source.repoUrl, access, policy);
  if (said.kind === "moving" || access.state === "unproven") return said;
  const message = `${said.message}. What is deployed stays; nothing more is deployed until it can be read again`;
  return { ...said, message, error: message };
}

function outcomeSaid(url: string, { outcome, credential }: RepositoryAccess, { egress }: WorkspacePolicy): Said {
  switch (outcome) {
    case undefined:
    case "readable":
      return { kind: "moving", reason: "ValidationPending", message: "Whether the repository can be read is being found out" };
    case "denied":
      return stuck(
        "InvalidCredentials",
        credential === ""
          ? `Repository ${url} cannot be read: authentication required; create a GitOpsDeploymentRepositoryCredential for it`
          : `Repository ${url} cannot be read: authentication required, and the GitOpsDeploymentRepositoryCredential for it was refused`,
      );
    case "not-found":
      return stuck("InvalidRepositoryUrl", `Repository does not exist: ${url}, or it is not shown without a credential for it`);
    case "moved":
      return stuck("InvalidRepositoryUrl", `Repository does not exist: ${url} leads elsewhere; name the address that it leads to`);
    case "not-allowed":
      return stuck(
        "InvalidRepositoryUrl",
        `The host of ${url} has no address that may be reached from here; ask your administrator if it should`,
      );
    case "not-probed": {
      const parsed = parseRepositoryAddress(url, egress, "spec.source.repoURL");
      return stuck("InvalidRepositoryUrl", parsed.ok ? `${url} is probed again` : parsed.message);
    }
    case "too-many":
      return stuck(
        "InvalidRepositoryUrl",
        `This namespace writes the repository in more than ${SPELLINGS_AT_MOST} ways: write ${url} as another deployment does`,
      );
    case "unknown-identity":
      return moving(
        "RepositoryIdentityUnknown",
        `The host of ${url} cannot show to be itself: its certificate or host key is not known here; ask your administrator to add it`,
      );
    case "unreachable":
      return moving("RepositoryUnreachable", `The host of ${url} does not answer as a Git host does; it is tried again`);
    case "failed":
      return moving("ValidationFailed", `It could not be found out whether ${url} can be read; it is tried again`);
  }
}

function stuck(reason: Said["reason"], message: string): Said {
  return { kind: "stuck", reason, message, error: message };
}

function moving(reason: Said["reason"], message: string): Said {
  return { kind: "moving", reason, message };
}
