import type { Blockage } from "../../domain/blockage.ts";
import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Environment } from "../../domain/environment.ts";
import type { WorkspaceGroups } from "../../domain/groups.ts";
import type { ApplicationId, OperationId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { RecordedClasses } from "../../domain/quota.ts";
import type { RepositoryAccess } from "../../domain/repository-access.ts";
import type { RecordedStatus } from "../../domain/status.ts";
import type { Application, ApplicationSpec, Deletion, PlacementUnit, Workspace } from "../../domain/workspace.ts";
import type { Page } from "../operation/port.ts";

/** What one GitOpsDeployment asks for. The ids are used only where the row does not exist yet. */
export interface DeploymentIntent {
  readonly workspace: Pick<Workspace, "plane" | "apiCluster" | "namespace" | "namespaceUid" | "trustClass" | "groups">;
  readonly newIds: {
    readonly workspaceId: WorkspaceId;
    readonly unitId: UnitId;
    readonly applicationId: ApplicationId;
    readonly operationId: OperationId;
  };
  /** Class of the workspace's unit, if it is made now. */
  readonly class: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: ApplicationSpec;
  readonly argoName: string;
  /** Whether what the workspace names for the first time waits until it was seen to be able to read it; absent: it does not. */
  readonly provesAccess?: boolean;
}

export type IntentOutcome =
  | { readonly kind: "created" | "updated" | "unchanged"; readonly applicationId: ApplicationId }
  /** The row is being deleted, or is gone since less than `ECHO_MS`: a resource with this uid was already seen to go. */
  | { readonly kind: "deleting"; readonly applicationId: ApplicationId };

/** A resource that is to have a name in Argo CD that was not made here. */
export interface KeptName {
  readonly uid: string;
  readonly argoName: string;
  /** Who was to have the name before this, and has no application, does not come any more: the name is free. */
  readonly goneBefore: Millis;
}

/** `late`: its application has another name already. `taken`: another one has this name or is to have it, or it is to have another. */
export type KeptNameOutcome = "kept" | "late" | "taken";

export interface DeletionIntent {
  readonly uid: string;
  /**
   * `with-namespace`: its namespace goes too, and takes along what was deployed into it and the right to delete it; what was deployed
   * elsewhere is still deleted. That is an orphan or a cascade, as the row says where it is deployed to.
   */
  readonly deletion: Exclude<Deletion, "none"> | "with-namespace";
  readonly operationId: OperationId;
}

/** A row as the workspace controllers need it to show a user how things stand. */
export interface UserView {
  readonly application: Application;
  readonly workspace: Workspace;
  readonly unit: Pick<PlacementUnit, "owner" | "epoch" | "phase">;
  /** True once the scheduler has found no instance with capacity for the unit. */
  readonly isUnplaceable: boolean;
  /** What its destination names; of several of that name the one that is connected. */
  readonly environment: Environment | undefined;
  readonly status: RecordedStatus | undefined;
  /** Whether its repository can be read; absent: nothing is recorded, and it counts as readable. */
  readonly access?: RepositoryAccess | undefined;
  /** Of a deletion that hangs. */
  readonly blockage: Blockage | undefined;
  /** What its open operation says beside what every new one does: why it is not completed yet. */
  readonly trouble: string | undefined;
  /** Hash of the user's status last written, to skip writing the same again; empty before the first. */
  readonly publishedHash: string;
  /** Rises with each change of status or placement; given back by `recordPublished`, so that a change meanwhile stays unpublished. */
  readonly viewRevision: number;
}

export interface Publication {
  readonly applicationId: ApplicationId;
  readonly hash: string;
  /** Of the view that was published; absent: whatever the row holds now counts as published. */
  readonly viewRevision?: number;
}

export interface KnownWorkspace {
  readonly workspaceId: WorkspaceId;
  readonly namespace: string;
  readonly namespaceUid: string;
  readonly state: Workspace["state"];
  /** Those its units have, or are to have, sorted; empty while it has no unit. */
  readonly classes: readonly string[];
  /** The class that somebody has assigned to it. */
  readonly assigned?: string;
  /** Labels of its namespace that are recorded; absent: none were yet. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The groups that it is in; absent: in none. */
  readonly groups?: WorkspaceGroups;
}

/** By which classes it is judged what a workspace may have. */
export interface WorkspaceClasses extends RecordedClasses {
  readonly namespace: string;
  readonly namespaceUid: string;
}

/** Labels of a workspace's namespace by which it can be asked what was taken. */
export interface WorkspaceLabels {
  readonly workspaceId: WorkspaceId;
  readonly labels: Readonly<Record<string, string>>;
}

/** The groups that labels of its namespace put a workspace into. */
export interface GroupAssignment {
  readonly workspaceId: WorkspaceId;
  readonly groups: WorkspaceGroups;
  readonly decision: Decision;
}

/** A class that a rule or a person gives a workspace. */
export interface ClassAssignment {
  readonly workspaceId: WorkspaceId;
  readonly class: string;
  readonly trustClass: string;
  readonly decision: Decision;
}

export interface KnownApplication {
  readonly applicationId: ApplicationId;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly deletedAt: Millis | undefined;
  /** Generation of the resource that was recorded last, and what it last asked to be read again by (`ApplicationSpec.refresh`). */
  readonly generation: number;
  readonly refresh?: string;
  /** `contentHash` of the specification that was recorded last; absent where the application, or its workspace, is being deleted. */
  readonly specHash?: string;
}

/** A cascade that goes on although its namespace is gone. */
export interface OverdueCascade {
  readonly uid: string;
  readonly name: string;
  readonly workspaceId: WorkspaceId;
  readonly namespace: string;
  /** Where it is deployed to; absent: to the namespace that is gone. */
  readonly environment: string | undefined;
}

/** Written by the workspace controllers only: what users want, with the outbox rows and notifications that follow from it. */
export interface IntentStore {
  /**
   * Records intents in one transaction. A change of spec raises the application's `desiredRevision` (and the unit's, when
   * its set of repositories or its use of environments changes), writes an operation and notifies `application` or, for a unit without owner, `unit`.
   * Where `provesAccess`, a repository that no application of the workspace names yet becomes unproven, and `repository` is notified; so it is, for a
   * probe at once, when an application changes whose repository could not be read.
   * An intent whose generation is older than the row's is `unchanged`. One for a workspace that was being deleted makes it
   * active again.
   */
  recordDeployments(intents: readonly DeploymentIntent[], signal: AbortSignal): Promise<readonly IntentOutcome[]>;
  /** Has the resource's application, once it is recorded, get this name instead of the one the intent gives; idempotent. */
  keepName(name: KeptName, signal: AbortSignal): Promise<KeptNameOutcome>;
  /**
   * Marks applications as deleted (idempotent) and notifies `application`; unknown uids are ignored. A deletion under way may
   * still become `orphan`, never `cascade`. Where the workspace has ended they go with their namespace. A unit that was never
   * placed has no objects anywhere: its rows go at once, which notifies `status`.
   */
  recordDeletions(deletions: readonly DeletionIntent[], signal: AbortSignal): Promise<void>;
  /** Cascades of workspaces that are being deleted that were asked for before: the next `limit` of them after a uid, by uid. */
  listOverdue(
    page: { readonly apiCluster: string; readonly before: Millis; readonly limit: number; readonly after: string },
    signal: AbortSignal,
  ): Promise<readonly OverdueCascade[]>;
  readByUids(uids: readonly string[], signal: AbortSignal): Promise<readonly UserView[]>;
  readByIds(ids: readonly ApplicationId[], signal: AbortSignal): Promise<readonly UserView[]>;
  /** Application rows of one API cluster, by id, for the sweep that compares them with the resources that exist. */
  listKnown(apiCluster: string, page: Page, signal: AbortSignal): Promise<readonly KnownApplication[]>;
  /** Ids whose recorded status or placement has changed since `publishedHash` was written, sorted. */
  listUnpublished(apiCluster: string, page: Page, signal: AbortSignal): Promise<readonly ApplicationId[]>;
  recordPublished(entries: readonly Publication[], signal: AbortSignal): Promise<void>;
  /** Workspaces of one API cluster, by id, for the sweep that compares them with the namespaces that exist. */
  listKnownWorkspaces(apiCluster: string, page: Page, signal: AbortSignal): Promise<readonly KnownWorkspace[]>;
  /** The same of the workspaces of these namespaces, sorted by id. */
  readKnownWorkspaces(apiCluster: string, namespaces: readonly string[], signal: AbortSignal): Promise<readonly KnownWorkspace[]>;
  /** The classes of every workspace of one API cluster, sorted by id. */
  listClasses(apiCluster: string, signal: AbortSignal): Promise<readonly WorkspaceClasses[]>;
  /**
   * Marks workspaces whose namespace is gone as being deleted (idempotent) and notifies their units; those that hold no
   * application and were never placed go at once. Cascades under way in the namespace itself become orphans.
   */
  recordWorkspaceEnds(ids: readonly WorkspaceId[], signal: AbortSignal): Promise<void>;
  /**
   * Has all units of a workspace get this class: those without an owner at once, each other one when a live move has brought it to an instance of
   * that class. Journals the decision and notifies the units that are to change, and `class`; nothing, where none is.
   */
  assignClass(assignment: ClassAssignment, signal: AbortSignal): Promise<void>;
  /** Keeps labels of workspaces' namespaces instead of those that were kept of them before. */
  recordLabels(workspaces: readonly WorkspaceLabels[], signal: AbortSignal): Promise<void>;
  /**
   * Puts a workspace into these groups. Its units that live somewhere are marked: it has to be seen whether they may stay; first placements that are
   * decided now are decided again. Journals the decision and notifies its units; nothing, where it is in these groups already.
   */
  assignGroups(assignment: GroupAssignment, signal: AbortSignal): Promise<void>;
}
