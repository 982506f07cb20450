import type { InstanceId, WorkspaceId } from "../../domain/ids.ts";
import type { Operation, OperationState } from "../../domain/operation.ts";
import type { RecordedStatus } from "../../domain/status.ts";
import type { Application, PlacementUnit, Workspace } from "../../domain/workspace.ts";

export interface WorkspaceSummary {
  readonly workspace: Workspace;
  readonly units: readonly PlacementUnit[];
  readonly applications: number;
}

export interface ApplicationSummary {
  readonly application: Application;
  readonly workspace: Workspace;
  readonly unit: PlacementUnit;
  readonly status: RecordedStatus | undefined;
}

/** Whoever writes to Git makes up kinds: no list of them is longer. */
export const KINDS_LISTED = 1000;

/** A kind of object that applications have in their own namespace. */
export interface DeployedKind {
  readonly group: string;
  readonly kind: string;
  /** That have one at least. */
  readonly applications: number;
}

export interface Page {
  readonly limit: number;
  /** Last key of the page before; empty for the first. */
  readonly after: string;
}

/** What SREs read: read only, paged by key. */
export interface OperationStore {
  listOperations(
    filter: { readonly state?: OperationState; readonly workspaceId?: WorkspaceId },
    page: Page,
    signal: AbortSignal,
  ): Promise<readonly Operation[]>;
  listWorkspaces(filter: { readonly namespace?: string }, page: Page, signal: AbortSignal): Promise<readonly WorkspaceSummary[]>;
  /**
   * Applications that Argo CD syncs now, or whose last sync it says has failed, as it said last. Whether a sync that failed still matters
   * is the reader's to tell. Reads every status of the fleet: for people, not for loops.
   */
  listSyncs(
    filter: { readonly workspaceId?: WorkspaceId; readonly owner?: InstanceId },
    page: Page,
    signal: AbortSignal,
  ): Promise<readonly ApplicationSummary[]>;
  /**
   * Kinds that applications have in namespaces of the API cluster, as instances said last; those that most have first, {@link KINDS_LISTED} at
   * most. Of a very large application only the objects that its status names are counted. Reads every status of the fleet: for people.
   */
  listDeployedKinds(signal: AbortSignal): Promise<readonly DeployedKind[]>;
  listApplications(
    filter: { readonly namespace?: string; readonly name?: string },
    page: Page,
    signal: AbortSignal,
  ): Promise<readonly ApplicationSummary[]>;
}
