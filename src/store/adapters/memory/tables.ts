import type { Blockage } from "../../../domain/blockage.ts";
import type { Change } from "../../../domain/change.ts";
import type { Millis } from "../../../domain/clock.ts";
import type { Decision } from "../../../domain/decision.ts";
import type { Directive, Freeze } from "../../../domain/directive.ts";
import type { Environment } from "../../../domain/environment.ts";
import type { HealthSample, InstanceVerdict } from "../../../domain/health.ts";
import type {
  ApplicationId,
  CredentialId,
  EnvironmentId,
  InstanceId,
  MemberId,
  MoveId,
  OperationId,
  PlanId,
  RepositoryCredentialId,
  RolloutId,
  UnitId,
  WorkspaceId,
} from "../../../domain/ids.ts";
import type { Instance } from "../../../domain/instance.ts";
import type { Move } from "../../../domain/move.ts";
import type { Operation } from "../../../domain/operation.ts";
import type { CarriedStep, StoredPlan } from "../../../domain/plan.ts";
import type { RepositoryCredential } from "../../../domain/repository-credential.ts";
import type { FrozenVersion, Rollout } from "../../../domain/rollout.ts";
import type { ShardObject } from "../../../domain/shard-object.ts";
import type { ShownServer } from "../../../domain/shown-server.ts";
import type { RecordedStatus } from "../../../domain/status.ts";
import type { SyncRun } from "../../../domain/sync-run.ts";
import type { Application, PlacementUnit, Workspace } from "../../../domain/workspace.ts";
import type { StoredFleet } from "../../fleet/port.ts";
import type { ClassLoadState, InstanceLoad, KnownLoad } from "../../load/port.ts";
import type { Lease } from "../../member/port.ts";
import type { DoneMove } from "../../plan/port.ts";
import type { SplitRow } from "../../split/port.ts";
import type { ApiToken } from "../../token/port.ts";
import { createIndexedTable, type IndexedTable } from "./indexed-table.ts";

export interface MemoryUnitRow {
  readonly unit: PlacementUnit;
  /** Hash of the facts on which no candidate was found for it last; absent while no search has failed. */
  readonly unplaceable: string | undefined;
  /** Absent while it was not measured. */
  readonly load?: KnownLoad | undefined;
  readonly createdAt: Millis;
}

export interface MemoryApplicationRow {
  readonly application: Application;
  readonly status: RecordedStatus | undefined;
  readonly blockage: Blockage | undefined;
  readonly viewRevision: number;
  readonly publishedRevision: number;
  readonly publishedHash: string;
}

export interface OperationRow {
  readonly operation: Operation;
  /** Revision of the application whose acknowledgement completes it. */
  readonly revision: number;
  /** Its message says what its instance met with, and not what it waits for before that. Only such a message is shown to its user. */
  readonly isTrouble: boolean;
}

export interface SyncRunRow {
  readonly run: SyncRun;
  readonly apiCluster: string;
  /** Order of recording. */
  readonly place: number;
  readonly viewRevision: number;
  readonly publishedRevision: number;
  readonly publishedHash: string;
}

export interface CredentialRow {
  readonly owner: string;
  readonly purpose: string;
  readonly plaintext: string;
}

export interface EndedRow {
  readonly id: ApplicationId;
  readonly uid: string;
  readonly argoName: string;
  readonly unitId: UnitId;
  readonly endedAt: Millis;
}

/** Everything the store holds. Rows are replaced, never changed, so that what was handed out stays as it was. */
export interface Tables {
  readonly workspaces: IndexedTable<WorkspaceId, Workspace, "identity">;
  readonly units: IndexedTable<UnitId, MemoryUnitRow, "workspace" | "owner">;
  readonly applications: IndexedTable<ApplicationId, MemoryApplicationRow, "unit" | "uid">;
  readonly endedApplications: IndexedTable<ApplicationId, EndedRow, "unit" | "uid">;
  readonly objects: IndexedTable<string, ShardObject, "subject">;
  readonly operations: IndexedTable<OperationId, OperationRow, "subject">;
  readonly syncRuns: IndexedTable<string, SyncRunRow, "application">;
  readonly environments: IndexedTable<EnvironmentId, Environment, "workspace" | "uid">;
  readonly instances: Map<InstanceId, Instance>;
  readonly decisions: Decision[];
  readonly directives: Map<WorkspaceId, Directive>;
  readonly instanceLoads: Map<InstanceId, InstanceLoad>;
  readonly classLoads: Map<string, ClassLoadState>;
  /** Oldest first. */
  readonly probeSamples: Map<InstanceId, readonly HealthSample[]>;
  readonly verdicts: Map<InstanceId, InstanceVerdict>;
  readonly plans: Map<PlanId, StoredPlan>;
  readonly planSteps: Map<PlanId, ReadonlyMap<UnitId, CarriedStep>>;
  readonly splits: Map<WorkspaceId, Pick<SplitRow, "parts" | "openPart" | "roomySince" | "deal">>;
  /** Oldest first. */
  readonly unitMoves: (DoneMove & { readonly class: string })[];
  readonly moves: Map<MoveId, Move>;
  readonly freezes: Map<string, Freeze>;
  readonly rollouts: Map<RolloutId, Rollout>;
  readonly frozenVersions: Map<string, FrozenVersion>;
  /** Names in Argo CD by uid of the resource. */
  readonly keptNames: Map<string, { readonly argoName: string; readonly at: Millis }>;
  readonly credentials: Map<CredentialId, CredentialRow>;
  readonly repositoryCredentials: IndexedTable<RepositoryCredentialId, RepositoryCredential, "workspace" | "uid">;
  readonly members: Map<MemberId, { readonly roles: readonly string[]; readonly expires: Millis }>;
  readonly leases: Map<string, { readonly lease: Lease; readonly expires: Millis }>;
  readonly tokens: Map<string, ApiToken & { readonly hash: string }>;
  readonly reservedServers: Map<string, ShownServer>;
  fleet: StoredFleet | undefined;
  /** The global sequence of epochs: survives the deletion of what was numbered. */
  lastEpoch: number;
  /** Counts recorded runs of syncs. */
  lastPlace: number;
}

/** What makes two mentions of a namespace the same workspace. */
export function workspaceIdentity({ plane, apiCluster, namespaceUid }: Pick<Workspace, "plane" | "apiCluster" | "namespaceUid">): string {
  return [plane, apiCluster, namespaceUid].join("|");
}

export function createTables(): Tables {
  return {
    workspaces: createIndexedTable({ identity: (workspace: Workspace) => workspaceIdentity(workspace) }),
    units: createIndexedTable({ workspace: ({ unit }) => unit.workspaceId, owner: ({ unit }) => unit.owner ?? "" }),
    applications: createIndexedTable({ unit: ({ application }) => application.unitId, uid: ({ application }) => application.uid }),
    endedApplications: createIndexedTable({ unit: ({ unitId }) => unitId, uid: ({ uid }) => uid }),
    objects: createIndexedTable({ subject: (object) => object.subject }),
    operations: createIndexedTable({ subject: ({ operation }) => operation.subject }),
    syncRuns: createIndexedTable({ application: ({ run }) => run.applicationId ?? "" }),
    environments: createIndexedTable({ workspace: ({ workspaceId }) => workspaceId, uid: ({ uid }) => uid }),
    instances: new Map(),
    decisions: [],
    directives: new Map(),
    instanceLoads: new Map(),
    classLoads: new Map(),
    probeSamples: new Map(),
    verdicts: new Map(),
    plans: new Map(),
    planSteps: new Map(),
    splits: new Map(),
    unitMoves: [],
    moves: new Map(),
    freezes: new Map(),
    rollouts: new Map(),
    frozenVersions: new Map(),
    keptNames: new Map(),
    credentials: new Map(),
    repositoryCredentials: createIndexedTable({ workspace: ({ workspaceId }) => workspaceId, uid: ({ uid }) => uid }),
    members: new Map(),
    leases: new Map(),
    tokens: new Map(),
    reservedServers: new Map(),
    fleet: undefined,
    lastEpoch: 0,
    lastPlace: 0,
  };
}

/** What every method works with: the rows, the time, and the notifications that must not be seen before the method has ended. */
export interface Transaction {
  readonly tables: Tables;
  now(): Millis;
  notify(kind: Change["kind"], id: string): void;
}

/** Runs one method as a transaction of its own. */
export type Transact = <Result>(signal: AbortSignal, work: (transaction: Transaction) => Result) => Promise<Result>;
