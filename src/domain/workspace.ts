import type { Millis } from "./clock.ts";
import type { WorkspaceGroups } from "./groups.ts";
import type { ApplicationId, InstanceId, UnitId, WorkspaceId } from "./ids.ts";
import type { LoadVector } from "./load.ts";

/** The unit of tenancy: one namespace of one API cluster. A namespace re-created under its name is another workspace. */
export interface Workspace {
  readonly id: WorkspaceId;
  readonly plane: "kubernetes";
  readonly apiCluster: string;
  readonly namespace: string;
  readonly namespaceUid: string;
  readonly trustClass: string;
  /** Who lives with it, and who must not; absent: no label says anything. */
  readonly groups?: WorkspaceGroups;
  readonly state: "active" | "deleting";
}

/** Phases of a unit. While it is MOVING, only its move writes the unit's objects on instances, or its owner bindings. */
export const UNIT_PHASES = ["UNPLACED", "IDLE", "MOVING"] as const;
export type UnitPhase = (typeof UNIT_PHASES)[number];

/** What is placed on an instance: a workspace, or one part (bucket) of a split one. */
export interface PlacementUnit {
  readonly id: UnitId;
  readonly workspaceId: WorkspaceId;
  readonly bucket: number;
  readonly class: string;
  /** The class that a rule of the fleet or a person gives it, while it has another one. */
  readonly wantedClass?: string;
  /**
   * The part whose applications it has taken over on the instance both are on. It stays there until that part has left or is gone: until then what was
   * begun as that part's account may still write.
   */
  readonly tookFrom?: UnitId | undefined;
  /** The part of its workspace that takes its applications over; it is given up then. */
  readonly joins?: UnitId | undefined;
  /** Its workspace's groups were changed since it came to where it is: it has to be seen whether it may stay. */
  readonly isRegrouped?: true;
  /** The instance that holds the unit; absent until the first placement. */
  readonly owner: InstanceId | undefined;
  /** Fencing number of the placement, from one global sequence; 0 before the first placement. */
  readonly epoch: number;
  readonly phase: UnitPhase;
  /** Planning load; a unit without history starts from its number of applications. */
  readonly load: LoadVector;
  /** Rises with every change of what the unit's project, accounts and owner bindings should be. */
  readonly desiredRevision: number;
  readonly rowVersion: number;
}

export interface ApplicationSource {
  readonly repoUrl: string;
  readonly path: string;
  /** Branch, tag or commit; empty means the repository's HEAD. */
  readonly targetRevision: string;
}

export interface ApplicationSpec {
  readonly source: ApplicationSource;
  /** Names, of an environment of the workspace and of a namespace there; both absent: the resource's own namespace on the API cluster. */
  readonly destination: { readonly environment?: string; readonly namespace?: string };
  readonly type: "automated" | "manual";
  readonly createNamespace: boolean;
  /** Changes whenever the user asks for the repository to be read again now; absent until the first time. */
  readonly refresh?: string;
}

/**
 * What becomes of the deployed objects when an application goes: `cascade` deletes them, `orphan` leaves them running.
 * `none`: the application is wanted.
 */
export const DELETIONS = ["none", "cascade", "orphan"] as const;
export type Deletion = (typeof DELETIONS)[number];

/** What a user deploys: a copy of one GitOpsDeployment (its `uid` and `generation`), to become one Argo CD Application. */
export interface Application {
  readonly id: ApplicationId;
  readonly workspaceId: WorkspaceId;
  readonly unitId: UnitId;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly spec: ApplicationSpec;
  /** Unique in the fleet and stable for life: it is part of Argo CD's tracking id. */
  readonly argoName: string;
  /** Rises with every change of what the Argo CD Application should be. */
  readonly desiredRevision: number;
  readonly deletion: Deletion;
  readonly deletedAt: Millis | undefined;
}
