import type { Millis } from "../../domain/clock.ts";
import type { WorkspaceId } from "../../domain/ids.ts";
import type { RepositoryAccess } from "../../domain/repository-access.ts";
import type { RepositoryCredential } from "../../domain/repository-credential.ts";
import type { Page } from "../operation/port.ts";

/** What the applications of a workspace read, and what they may read it with. */
export interface WorkspaceRepositories {
  readonly workspaceId: WorkspaceId;
  readonly apiCluster: string;
  readonly namespace: string;
  /** Of every repository that an application names which is not being deleted, sorted by URL. `access` is absent where nothing is recorded. */
  readonly repositories: readonly { readonly url: string; readonly access: RepositoryAccess | undefined }[];
  /** All of the workspace, sorted by id. */
  readonly credentials: readonly RepositoryCredential[];
}

export interface AccessRecord {
  readonly workspaceId: WorkspaceId;
  readonly url: string;
  readonly access: Omit<RepositoryAccess, "ordinal">;
}

/** That a workspace can still read what it could, as a probe has shown. */
export interface ConfirmedAccess {
  readonly workspaceId: WorkspaceId;
  readonly url: string;
  /** What it was probed with. */
  readonly credential: string;
  readonly at: Millis;
}

export interface OverdueProofs {
  readonly count: number;
  /** Absent: there is none. */
  readonly since?: Millis;
}

/** Written by the workspace controllers: whether a workspace was seen to be able to read what its applications name. */
export interface RepositoryAccessStore {
  readRepositories(workspaceId: WorkspaceId, signal: AbortSignal): Promise<WorkspaceRepositories | undefined>;
  /**
   * Active workspaces of an API cluster, by id, each with whether a repository of it was never probed, was last probed before `before`, or is not proven.
   */
  listDue(
    of: { readonly apiCluster: string; readonly before: Millis },
    page: Page,
    signal: AbortSignal,
  ): Promise<readonly { readonly workspaceId: WorkspaceId; readonly isDue: boolean }[]>;
  /** How many that are proven were last probed before `before`, and when the first of them was. */
  readOverdue(before: Millis, signal: AbortSignal): Promise<OverdueProofs>;
  /**
   * Records what a probe has shown. The first proof of a place gives it its number among those that share a checkout; a workspace that is the first
   * to write one repository in more ways than `SPELLINGS_AT_MOST` is refused with `too-many`. A change of state or number raises the units
   * that have applications of the repository, and notifies `unit` and `application`; one of what the user reads notifies `status`. Repositories of the workspace that no
   * application names any more are forgotten.
   */
  record(record: AccessRecord, signal: AbortSignal): Promise<void>;
  /**
   * Records what probes have confirmed, all together: when each was probed last. Only of what is proven with that credential, and was not refused since; the others stay as they
   * are, and due. Nothing that anybody waits for or reads changes.
   */
  confirm(confirmed: readonly ConfirmedAccess[], signal: AbortSignal): Promise<void>;
}
