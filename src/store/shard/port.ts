import type { Blockage } from "../../domain/blockage.ts";
import type { Environment } from "../../domain/environment.ts";
import type { ApplicationId, InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { OperationState } from "../../domain/operation.ts";
import type { RepositoryAccess } from "../../domain/repository-access.ts";
import type { RepositoryCredential } from "../../domain/repository-credential.ts";
import type { ShardObject } from "../../domain/shard-object.ts";
import type { Application, PlacementUnit, Workspace } from "../../domain/workspace.ts";

/** One application with what is needed to render and place it; absent owner means: not yet. */
export interface DesiredApplication {
  /** Its `repoUrl` is the spelling that instances are given. */
  readonly application: Application;
  readonly workspace: Workspace;
  readonly unit: PlacementUnit;
  /** Revision of the unit's objects (project, account, owner binding) that the owner has acknowledged; 0 for none. */
  readonly unitAppliedRevision: number;
  /** What its destination names; of several of that name the one that is connected. */
  readonly environment: Environment | undefined;
  /** Whether its repository can be read; absent: nothing is recorded, and it counts as readable. */
  readonly access?: RepositoryAccess | undefined;
  /** What the owner has acknowledged for this application. */
  readonly acknowledged: ShardObject | undefined;
}

export interface DesiredUnit {
  readonly unit: PlacementUnit;
  readonly workspace: Workspace;
  /**
   * Repositories of the unit's applications that are wanted or still being deleted, but for those that were not seen to be readable, or can be read no more; as instances have
   * them, sorted, without duplicates.
   */
  readonly repoUrls: readonly string[];
  /** Those of them that are deployed to an environment, or were to be. */
  readonly environmentRepoUrls: readonly string[];
  readonly applications: number;
  /** Those its applications deploy to, or are being deleted from, sorted by id. */
  readonly environments: readonly Environment[];
  /** Whether an environment of the workspace may have an account of ours on its cluster: until none has, the workspace stays. */
  readonly hasAccountsElsewhere: boolean;
  /** All credentials of the workspace for repositories, sorted by id. */
  readonly repositoryCredentials: readonly RepositoryCredential[];
  readonly acknowledged: readonly ShardObject[];
}

export interface UnitWithOwner {
  readonly unitId: UnitId;
  readonly epoch: number;
  readonly workspaceId: WorkspaceId;
}

/** An application whose row is gone: its cascade had ended. */
export interface EndedApplication {
  readonly applicationId: ApplicationId;
  readonly argoName: string;
  /** The present one of its unit. */
  readonly unitEpoch: number;
}

export interface Lagging {
  readonly applications: readonly ApplicationId[];
  readonly units: readonly UnitId[];
}

/** How far an application's open operation has come, for people. */
export interface ProgressNote {
  readonly applicationId: ApplicationId;
  readonly state: Exclude<OperationState, "Completed">;
  /** Attempts since the last note. */
  readonly attempts: number;
  readonly message: string;
  /** Of a deletion that hangs; absent: none does. */
  readonly blockage: Blockage | undefined;
}

/** Read by the reconciler; written by it as acknowledgements and as the end of deletions. */
export interface ShardStore {
  readApplications(ids: readonly ApplicationId[], signal: AbortSignal): Promise<readonly DesiredApplication[]>;
  readUnit(id: UnitId, signal: AbortSignal): Promise<DesiredUnit | undefined>;
  /** Units the instance holds, sorted by id. */
  listOwned(instanceId: InstanceId, signal: AbortSignal): Promise<readonly UnitWithOwner[]>;
  /** Units whose account the instance may act as: those it holds, and those that live moves bring or take away. Sorted. */
  listActing(instanceId: InstanceId, signal: AbortSignal): Promise<readonly UnitId[]>;
  /** Every application that belongs on the instance, deleted ones that still wait for their end included. */
  listApplications(
    instanceId: InstanceId,
    signal: AbortSignal,
  ): Promise<readonly { readonly applicationId: ApplicationId; readonly argoName: string; readonly epoch: number }[]>;
  /** Of these applications those that a cascade ended, within a day or so, and whose unit now rests on the instance; sorted by id. */
  listEnded(instanceId: InstanceId, ids: readonly ApplicationId[], signal: AbortSignal): Promise<readonly EndedApplication[]>;
  /**
   * Applications and units of these instances whose acknowledged revision is behind the desired one, or that wait for deletion: at most `limit`
   * of each, sorted.
   */
  listLagging(instanceIds: readonly InstanceId[], limit: number, signal: AbortSignal): Promise<Lagging>;
  /**
   * Records acknowledgements whose epoch is still the unit's (others are dropped, as are older revisions), completes the
   * operations they answer and returns how many were taken.
   */
  acknowledge(objects: readonly ShardObject[], signal: AbortSignal): Promise<number>;
  /**
   * Notes on operations that are still open; others are left alone. A message that is another than the last one, and a blockage that is
   * another than the one recorded, change what the user sees and notify `status`.
   */
  recordProgress(notes: readonly ProgressNote[], signal: AbortSignal): Promise<void>;
  /** Takes back what was recorded of objects that do not stand any more. */
  forgetObjects(objects: readonly Pick<ShardObject, "instanceId" | "kind" | "subject">[], signal: AbortSignal): Promise<void>;
  /**
   * Ends deletions: removes the rows of applications that are marked deleted and confirmed gone, and keeps in mind for `listEnded` those
   * that were to go with what they had deployed; notifies `status`, and `sync-run` for
   * each of their runs that has not ended: no instance will say anything of these any more.
   */
  forgetApplications(ids: readonly ApplicationId[], signal: AbortSignal): Promise<void>;
  /**
   * Removes a workspace that is being deleted and has no application left, with its units and their moves; false while it has some, or one
   * of its units is being moved: what that move has made somewhere is known by its row alone.
   */
  forgetWorkspace(id: WorkspaceId, signal: AbortSignal): Promise<boolean>;
  /**
   * Removes a part that was joined with another one and of which nothing stands any more; false while it has applications or is being
   * moved. Notifies the unit it was joined with.
   */
  forgetPart(id: UnitId, signal: AbortSignal): Promise<boolean>;
}
