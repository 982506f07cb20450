import type { ApplicationId, InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { ShardObject } from "../../domain/shard-object.ts";
import type { Application, PlacementUnit, Workspace } from "../../domain/workspace.ts";

/** One application with what is needed to render and place it; absent owner means: not yet. */
export interface DesiredApplication {
  readonly application: Application;
  readonly workspace: Workspace;
  readonly unit: PlacementUnit;
  /** Revision of the unit's objects (project, account, register) that the owner has acknowledged; 0 for none. */
  readonly unitAppliedRevision: number;
  /** What the owner has acknowledged for this application. */
  readonly acknowledged: ShardObject | undefined;
}

export interface DesiredUnit {
  readonly unit: PlacementUnit;
  readonly workspace: Workspace;
  /** Repositories of the unit's applications that are wanted or still being deleted, sorted, without duplicates. */
  readonly repoUrls: readonly string[];
  readonly applications: number;
  readonly acknowledged: readonly ShardObject[];
}

export interface OwnedUnit {
  readonly unitId: UnitId;
  readonly epoch: number;
  readonly workspaceId: WorkspaceId;
}

export interface Lagging {
  readonly applications: readonly ApplicationId[];
  readonly units: readonly UnitId[];
}

/** Read by the reconciler; written by it as acknowledgements and as the end of deletions. */
export interface ShardStore {
  readApplications(ids: readonly ApplicationId[], signal: AbortSignal): Promise<readonly DesiredApplication[]>;
  readUnit(id: UnitId, signal: AbortSignal): Promise<DesiredUnit | undefined>;
  /** Units the instance holds, sorted by id. */
  listOwned(instanceId: InstanceId, signal: AbortSignal): Promise<readonly OwnedUnit[]>;
  /** Every application that belongs on the instance, deleted ones that still wait for their end included. */
  listApplications(
    instanceId: InstanceId,
    signal: AbortSignal,
  ): Promise<readonly { readonly applicationId: ApplicationId; readonly argoName: string; readonly epoch: number }[]>;
  /** Applications and units of the instance whose acknowledged revision is behind the desired one, or that wait for deletion. */
  listLagging(instanceId: InstanceId, limit: number, signal: AbortSignal): Promise<Lagging>;
  /**
   * Records acknowledgements whose epoch is still the unit's (others are dropped, as are older revisions), completes the
   * operations they answer and returns how many were taken.
   */
  acknowledge(objects: readonly ShardObject[], signal: AbortSignal): Promise<number>;
  /** Ends deletions: removes the rows of applications that are marked deleted and confirmed gone; notifies `status`. */
  forgetApplications(ids: readonly ApplicationId[], signal: AbortSignal): Promise<void>;
  /** Removes a workspace that is being deleted and has no application left; false while it has some. */
  forgetWorkspace(id: WorkspaceId, signal: AbortSignal): Promise<boolean>;
}
