import type { CredentialId, RepositoryCredentialId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { RepositoryCredential } from "../../domain/repository-credential.ts";
import type { Workspace } from "../../domain/workspace.ts";
import type { Page } from "../operation/port.ts";

/** One GitOpsDeploymentRepositoryCredential that was seen to work. The ids are used only where the row does not exist yet. */
export interface RepositoryCredentialIntent
  extends Pick<RepositoryCredential, "name" | "uid" | "generation" | "createdAt" | "url" | "urlKey" | "secretVersion"> {
  readonly workspace: Pick<Workspace, "plane" | "apiCluster" | "namespace" | "namespaceUid" | "trustClass" | "groups">;
  readonly newIds: {
    readonly workspaceId: WorkspaceId;
    readonly unitId: UnitId;
    readonly repositoryCredentialId: RepositoryCredentialId;
    readonly credentialId: CredentialId;
  };
  /** Class of the workspace's unit, if it is made now. */
  readonly class: string;
  /** In the clear; stored encrypted. */
  readonly secret: string;
}

export interface RepositoryCredentialView {
  readonly credential: RepositoryCredential;
  /**
   * How far its workspace's units have got: one has no instance yet; each has one, and one of these has not the latest of
   * its objects; the instances hold everything.
   */
  readonly delivery: "unplaced" | "under-way" | "delivered";
}

export interface KnownRepositoryCredential {
  readonly uid: string;
  readonly generation: number;
  readonly namespace: string;
  readonly name: string;
  readonly url: string;
  readonly secretVersion: string;
}

/** Written by the workspace controllers: which repositories a workspace can read, and with what. */
export interface RepositoryCredentialStore {
  /**
   * Records a credential and its secret in one transaction. A change of what instances hold (URL, secret, or which of two is
   * older) raises the desired revision of the workspace's units and notifies `unit`. An intent whose generation is older than
   * the row's is `unchanged`.
   */
  record(intent: RepositoryCredentialIntent, signal: AbortSignal): Promise<"created" | "updated" | "unchanged">;
  /** Removes credentials with their secrets, raises the units of their workspaces and notifies `unit`; unknown uids are ignored. */
  revoke(uids: readonly string[], signal: AbortSignal): Promise<void>;
  /** All credentials of a workspace, sorted by id. */
  listOfWorkspace(
    workspace: Pick<Workspace, "plane" | "apiCluster" | "namespaceUid">,
    signal: AbortSignal,
  ): Promise<readonly RepositoryCredentialView[]>;
  /** Rows of one API cluster, by uid, for the sweep that compares them with the resources that exist. */
  listKnown(apiCluster: string, page: Page, signal: AbortSignal): Promise<readonly KnownRepositoryCredential[]>;
}
