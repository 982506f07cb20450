import { type Millis, millis, rfc3339 } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import { decisionText } from "../domain/decision-text.ts";
import type { Directive, Freeze } from "../domain/directive.ts";
import { type SyncFailure, type SyncOperation, syncFailureOf, syncOperationOf } from "../domain/failing-sync.ts";
import type { PoolSpec } from "../domain/fleet.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { LOAD_DIMENSIONS, type LoadVector, toDocumentLoad } from "../domain/load.ts";
import type { Operation } from "../domain/operation.ts";
import { raisesInForce } from "../domain/raised-resources.ts";
import type { ApplicationSummary, WorkspaceSummary } from "../store/operation/port.ts";
import type { InstanceWithLoad } from "../store/placement/port.ts";
import type { TokenRecord } from "../store/token/port.ts";
import { redactText } from "../telemetry/redact.ts";
import type { InstanceUsage } from "./port.ts";
import type {
  ApplicationView,
  DecisionView,
  DirectiveView,
  FreezeView,
  InstanceView,
  OperationView,
  TokenView,
  WorkspaceView,
} from "./schema.ts";

/** Instance ids to names; an id that is not there any more is shown as it is. */
export type InstanceNames = ReadonlyMap<InstanceId, string>;

export function namesOf(instances: readonly Instance[]): InstanceNames {
  return new Map(instances.map((instance) => [instance.id, instance.name]));
}

const nameOf = (names: InstanceNames, id: InstanceId | undefined): string | null => (id === undefined ? null : (names.get(id) ?? id));

/** Largest share of any dimension in use; a dimension without capacity counts as full once something is there. */
export function utilisation(load: LoadVector, capacity: LoadVector): number {
  const shares = LOAD_DIMENSIONS.map((name) => (capacity[name] > 0 ? load[name] / capacity[name] : load[name] > 0 ? 1 : 0));
  return Math.round(Math.max(...shares) * 10_000) / 10_000;
}

export function instanceView(
  { instance, load, units }: InstanceWithLoad,
  { usage, pools = [] }: { readonly usage?: InstanceUsage | undefined; readonly pools?: readonly PoolSpec[] } = {},
): InstanceView {
  const pool = pools.find(({ name }) => name === instance.pool);
  return {
    id: instance.id,
    name: instance.name,
    pool: instance.pool,
    class: instance.class,
    engineCluster: instance.engineCluster,
    namespace: instance.namespace,
    version: instance.version,
    desiredVersion: instance.desiredVersion,
    state: instance.state,
    since: rfc3339(instance.stateSince),
    reason: instance.reason,
    entries: instance.entries,
    units,
    load: toDocumentLoad(load),
    capacity: toDocumentLoad(instance.capacity),
    raised: pool === undefined ? [] : [...raisesInForce(pool, instance.raised?.amounts)],
    clusterEntries: usage?.clusterEntries ?? null,
    controllerMemoryBytes: usage?.controllerMemoryBytes ?? null,
    utilisation: utilisation(load, instance.capacity),
  };
}

export function workspaceView({ workspace, units, applications }: WorkspaceSummary, names: InstanceNames): WorkspaceView {
  return {
    id: workspace.id,
    namespace: workspace.namespace,
    apiCluster: workspace.apiCluster,
    trustClass: workspace.trustClass,
    state: workspace.state,
    applications,
    units: units.map((unit) => ({
      id: unit.id,
      class: unit.class,
      wantedClass: unit.wantedClass ?? null,
      instance: nameOf(names, unit.owner),
      epoch: unit.epoch,
      phase: unit.phase,
    })),
  };
}

export function applicationView({ application, workspace, unit, status }: ApplicationSummary, names: InstanceNames): ApplicationView {
  const failure = status === undefined ? undefined : syncFailureOf(status.status);
  const operation = status === undefined ? undefined : syncOperationOf(status.status);
  return {
    id: application.id,
    namespace: workspace.namespace,
    name: application.name,
    argoName: application.argoName,
    instance: nameOf(names, unit.owner),
    repoUrl: application.spec.source.repoUrl,
    path: application.spec.source.path,
    targetRevision: application.spec.source.targetRevision,
    type: application.spec.type,
    sync: status?.status.sync.status ?? "Unknown",
    revision: status?.status.sync.revision ?? "",
    health: status?.status.health.status ?? "Unknown",
    reconciledAt: status?.reconciledAt === undefined ? null : rfc3339(status.reconciledAt),
    deleting: application.deletedAt !== undefined,
    failure: failure === undefined ? null : failureView(failure),
    operation: operation === undefined ? null : syncOperationView(operation),
    errors: (status?.status.conditions ?? [])
      .filter(({ type }) => type.endsWith("Error"))
      .map(({ type, message }) => ({ type, message: redactText(message) })),
  };
}

function failureView({ message, since, attempt }: SyncFailure): NonNullable<ApplicationView["failure"]> {
  return { message: redactText(message), since: timeOrNull(since), attempt };
}

function syncOperationView(operation: SyncOperation): NonNullable<ApplicationView["operation"]> {
  const { phase, message, revision, startedAt, finishedAt, attempt } = operation;
  return { phase, message: redactText(message), revision, startedAt: timeOrNull(startedAt), finishedAt: timeOrNull(finishedAt), attempt };
}

const timeOrNull = (at: Millis | undefined): string | null => (at === undefined ? null : rfc3339(at));

/** How ids of syncs begin among operations: these have no rows of their own, and stand behind those that do. */
export const SYNC_ID = "sync/";

/** How an application's sync stands, as one of the operations; `undefined`: it is neither under way nor does it fail. */
export function syncView({ application, workspace, unit, status }: ApplicationSummary, names: InstanceNames): OperationView | undefined {
  const operation = status === undefined ? undefined : syncOperationOf(status.status);
  const failure = status === undefined ? undefined : syncFailureOf(status.status);
  const isUnderWay = operation?.phase === "Running" || operation?.phase === "Terminating";
  if (application.deletedAt !== undefined || (failure === undefined && !isUnderWay)) return undefined;
  const begun = rfc3339(operation?.startedAt ?? status?.reconciledAt ?? millis(0));
  const ended = operation?.finishedAt;
  return {
    ...{ id: `${SYNC_ID}${application.id}`, kind: "sync", subject: application.id },
    ...{ subjectName: `${workspace.namespace}/${application.name}`, workspace: workspace.id, instance: nameOf(names, unit.owner) },
    ...{ state: failure === undefined ? "In_Progress" : "Failed", attempts: operation?.attempt ?? 1 },
    ...{ createdAt: begun, updatedAt: ended === undefined ? begun : rfc3339(ended) },
    deadline: null,
    message: redactText(failure?.message ?? operation?.message ?? ""),
  };
}

export function operationView(operation: Operation, names: InstanceNames, subjectName: string | undefined): OperationView {
  return {
    id: operation.id,
    kind: operation.kind,
    subject: operation.subject,
    subjectName: subjectName ?? null,
    workspace: operation.workspaceId,
    instance: nameOf(names, operation.instanceId),
    state: operation.state,
    attempts: operation.attempts,
    createdAt: rfc3339(operation.createdAt),
    updatedAt: rfc3339(operation.updatedAt),
    deadline: rfc3339(operation.deadline),
    message: operation.message,
  };
}

export function directiveView({ pin, hold, assigned }: Directive, names: InstanceNames): DirectiveView {
  return {
    pin:
      pin === undefined
        ? null
        : {
            instance: pin.kind === "instance" ? nameOf(names, pin.instance) : null,
            pool: pin.kind === "pool" ? pin.pool : null,
            actor: pin.actor,
            reason: pin.reason,
            at: rfc3339(pin.at),
          },
    hold: hold === undefined ? null : { until: rfc3339(hold.until), actor: hold.actor, reason: hold.reason, at: rfc3339(hold.at) },
    assigned:
      assigned === undefined ? null : { class: assigned.class, actor: assigned.actor, reason: assigned.reason, at: rfc3339(assigned.at) },
  };
}

export function freezeView({ name, schedule, durationMs, actor, reason, at }: Freeze): FreezeView {
  return { name, schedule: schedule ?? null, seconds: Math.round(durationMs / 1000), actor, reason, at: rfc3339(at) };
}

export function tokenView({ createdAt, expiresAt, lastUsedAt, revokedAt, owner, createdBy, scope, ...rest }: TokenRecord): TokenView {
  const timeOf = (at: Millis | undefined): string | null => (at === undefined ? null : rfc3339(at));
  const listOf = (list: readonly string[] | undefined): string[] | null => (list === undefined ? null : [...list]);
  return {
    scope: scope === undefined ? null : { classes: listOf(scope.classes), workspaces: listOf(scope.workspaces) },
    ...{ name: rest.name, role: rest.role, state: rest.state, owner: owner ?? null, createdBy: createdBy ?? null },
    ...{ createdAt: rfc3339(createdAt), expiresAt: timeOf(expiresAt), lastUsedAt: timeOf(lastUsedAt), revokedAt: timeOf(revokedAt) },
  };
}

export function decisionView(decision: Decision, names: InstanceNames): DecisionView {
  const text = decisionText(decision, (id) => names.get(id as InstanceId) ?? id);
  return { ...decision, at: rfc3339(decision.at), text, details: { ...decision.details } };
}
