import type { Millis } from "../../../domain/clock.ts";
import { apartKey, type WorkspaceGroups } from "../../../domain/groups.ts";
import type { ApplicationId, InstanceId, UnitId, WorkspaceId } from "../../../domain/ids.ts";
import { LOAD_DIMENSIONS, type LoadVector, loadVector } from "../../../domain/load.ts";
import type { ShardKind, ShardObject } from "../../../domain/shard-object.ts";
import type { EngineStatus, RecordedStatus } from "../../../domain/status.ts";
import type { Application, ApplicationSpec, Deletion, PlacementUnit, UnitPhase, Workspace } from "../../../domain/workspace.ts";

/** Columns of a workspace `w`, as {@link workspaceOfRow} reads them. */
export const WORKSPACE = `w.id as w_id, w.plane as w_plane, w.api_cluster as w_api_cluster, w.namespace as w_namespace,
       w.namespace_uid as w_namespace_uid, w.trust_class as w_trust_class, w.apart as w_apart, w.together as w_together, w.state as w_state`;

export interface WorkspaceRow {
  readonly w_id: WorkspaceId;
  readonly w_plane: Workspace["plane"];
  readonly w_api_cluster: string;
  readonly w_namespace: string;
  readonly w_namespace_uid: string;
  readonly w_trust_class: string;
  readonly w_apart: WorkspaceGroups["apart"] | null;
  readonly w_together: string | null;
  readonly w_state: Workspace["state"];
}

/** The groups of a workspace by its columns; `undefined`: it is in none. */
export function groupsOfRow({
  w_apart: apart,
  w_together: together,
}: Pick<WorkspaceRow, "w_apart" | "w_together">): WorkspaceGroups | undefined {
  if (apart === null && together === null) return undefined;
  return { apart: apart ?? {}, ...(together === null ? {} : { together }) };
}

/** What stands in these columns: `apart` as JSON text. */
export function groupValues(groups: WorkspaceGroups | undefined): readonly [apart: string | null, together: string | null] {
  const { apart = {}, together = null } = groups ?? {};
  return [Object.keys(apart).length === 0 ? null : apartKey(groups), together];
}

export function workspaceOfRow(row: WorkspaceRow): Workspace {
  const groups = groupsOfRow(row);
  return {
    ...(groups === undefined ? {} : { groups }),
    id: row.w_id,
    plane: row.w_plane,
    apiCluster: row.w_api_cluster,
    namespace: row.w_namespace,
    namespaceUid: row.w_namespace_uid,
    trustClass: row.w_trust_class,
    state: row.w_state,
  };
}

/** Columns of a placement unit `u`, as {@link unitOfRow} reads them. */
export const UNIT = `u.id as u_id, u.workspace as u_workspace, u.bucket as u_bucket, u.class as u_class, u.wanted_class as u_wanted_class,
       u.is_regrouped as u_is_regrouped, u.took_from as u_took_from, u.joins as u_joins, u.owner as u_owner, u.epoch as u_epoch,
       u.phase as u_phase, u.load as u_load, u.desired_revision as u_desired_revision, u.row_version as u_row_version`;

export interface UnitRow {
  readonly u_id: UnitId;
  readonly u_workspace: WorkspaceId;
  readonly u_bucket: number;
  readonly u_class: string;
  readonly u_wanted_class: string | null;
  readonly u_took_from: UnitId | null;
  readonly u_joins: UnitId | null;
  readonly u_is_regrouped: boolean;
  readonly u_owner: InstanceId | null;
  readonly u_epoch: number;
  readonly u_phase: UnitPhase;
  readonly u_load: readonly number[];
  readonly u_desired_revision: number;
  readonly u_row_version: number;
}

export function unitOfRow(row: UnitRow): PlacementUnit {
  return {
    id: row.u_id,
    workspaceId: row.u_workspace,
    bucket: row.u_bucket,
    class: row.u_class,
    ...(row.u_wanted_class === null ? {} : { wantedClass: row.u_wanted_class }),
    ...(row.u_took_from === null ? {} : { tookFrom: row.u_took_from }),
    ...(row.u_joins === null ? {} : { joins: row.u_joins }),
    ...(row.u_is_regrouped ? { isRegrouped: true as const } : {}),
    owner: row.u_owner ?? undefined,
    epoch: row.u_epoch,
    phase: row.u_phase,
    load: loadOfRow(row.u_load),
    desiredRevision: row.u_desired_revision,
    rowVersion: row.u_row_version,
  };
}

/** Columns of an application `a`, as {@link applicationOfRow} reads them. */
export const APPLICATION = `a.id as a_id, a.workspace as a_workspace, a.unit as a_unit, a.name as a_name, a.uid as a_uid, a.generation as a_generation,
       a.spec as a_spec, a.argo_name as a_argo_name, a.desired_revision as a_desired_revision,
       a.deletion as a_deletion, a.deleted_at as a_deleted_at`;

export interface ApplicationRow {
  readonly a_id: ApplicationId;
  readonly a_workspace: WorkspaceId;
  readonly a_unit: UnitId;
  readonly a_name: string;
  readonly a_uid: string;
  readonly a_generation: number;
  readonly a_spec: ApplicationSpec;
  readonly a_argo_name: string;
  readonly a_desired_revision: number;
  readonly a_deletion: Deletion;
  readonly a_deleted_at: Millis | null;
}

export function applicationOfRow(row: ApplicationRow): Application {
  return {
    id: row.a_id,
    workspaceId: row.a_workspace,
    unitId: row.a_unit,
    name: row.a_name,
    uid: row.a_uid,
    generation: row.a_generation,
    spec: row.a_spec,
    argoName: row.a_argo_name,
    desiredRevision: row.a_desired_revision,
    deletion: row.a_deletion,
    deletedAt: row.a_deleted_at ?? undefined,
  };
}

/** Columns of an application's status `s`, as {@link statusOf} reads them. */
export const STATUS = `s.application as s_application, s.instance as s_instance, s.epoch as s_epoch, s.sync as s_sync, s.health as s_health,
       s.health_message as s_health_message, s.revision as s_revision, s.conditions as s_conditions, s.resources as s_resources,
       s.resource_count as s_resource_count, s.compared_to as s_compared_to, s.operation_state as s_operation_state,
       s.reconciled_at as s_reconciled_at, s.hash as s_hash`;

/** Null together but for the last three: no status has come yet. */
export interface StatusRow {
  readonly s_application: ApplicationId;
  readonly s_instance: InstanceId;
  readonly s_epoch: number;
  readonly s_sync: EngineStatus["sync"]["status"];
  readonly s_health: EngineStatus["health"]["status"];
  readonly s_health_message: string;
  readonly s_revision: string;
  readonly s_conditions: EngineStatus["conditions"];
  readonly s_resources: EngineStatus["resources"];
  readonly s_resource_count: number;
  readonly s_compared_to: EngineStatus["comparedTo"];
  readonly s_operation_state: Readonly<Record<string, unknown>> | null;
  readonly s_reconciled_at: Millis | null;
  readonly s_hash: string | null;
}

export function statusOf(row: StatusRow): RecordedStatus | undefined {
  if (row.s_hash === null) return undefined;
  const status: EngineStatus = {
    sync: { status: row.s_sync, revision: row.s_revision },
    health: { status: row.s_health, message: row.s_health_message },
    conditions: row.s_conditions,
    resources: row.s_resources,
    resourceCount: row.s_resource_count,
    comparedTo: row.s_compared_to,
    operationState: row.s_operation_state ?? undefined,
  };
  const { s_application: applicationId, s_instance: instanceId, s_epoch: epoch, s_hash: hash } = row;
  return { applicationId, instanceId, epoch, status, reconciledAt: row.s_reconciled_at ?? undefined, hash };
}

/** Columns of what an instance has acknowledged `o`, as {@link objectOfRow} reads them. */
export const OBJECT = `o.instance as o_instance, o.kind as o_kind, o.subject as o_subject, o.applied_revision as o_applied_revision, o.epoch as o_epoch,
       o.uid as o_uid, o.hash as o_hash`;

/** Null together: nothing is recorded. */
export interface ObjectRow {
  readonly o_instance: InstanceId;
  readonly o_kind: ShardKind;
  readonly o_subject: string;
  readonly o_applied_revision: number | null;
  readonly o_epoch: number;
  readonly o_uid: string;
  readonly o_hash: string;
}

/** `undefined` for a row that only says what should be there. */
export function objectOfRow(row: ObjectRow): ShardObject | undefined {
  if (row.o_applied_revision === null || row.o_applied_revision === 0) return undefined;
  const { o_instance: instanceId, o_kind: kind, o_subject: subject, o_applied_revision: appliedRevision, o_epoch: epoch } = row;
  return { instanceId, kind, subject, appliedRevision, epoch, uid: row.o_uid, hash: row.o_hash };
}

/** A load or capacity from its numbers in the order of {@link LOAD_DIMENSIONS}. */
export function loadOfRow(values: readonly number[]): LoadVector {
  return loadVector((dimension) => values[LOAD_DIMENSIONS.indexOf(dimension)] ?? 0);
}

export function loadValues(load: LoadVector): readonly number[] {
  return LOAD_DIMENSIONS.map((dimension) => load[dimension]);
}

/** Expression: a credential for a repository `r` as JSON, which is read as it stands. */
export const REPOSITORY_CREDENTIAL = `json_build_object('id', r.id, 'workspaceId', r.workspace, 'name', r.name, 'uid', r.uid, 'generation', r.generation,
         'createdAt', r.resource_created_at, 'url', r.url, 'urlKey', r.url_key, 'credentialId', r.credential, 'secretVersion', r.secret_version)`;
