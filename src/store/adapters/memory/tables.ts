import type { AuditRecord } from "../../../domain/audit.ts";
import type { Blockage } from "../../../domain/blockage.ts";
import type { Change } from "../../../domain/change.ts";
import type { Millis } from "../../../domain/clock.ts";
import type { Decision } from "../../../domain/decision.ts";
import type { Directive, Freeze } from "../../../domain/directive.ts";
import type { Environment } from "../../../domain/environment.ts";
import type { FleetProposal } from "../../../domain/fleet-approval.ts";
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
  ProposalId,
  RepositoryCredentialId,
  RolloutId,
  UnitId,
  WorkspaceId,
} from "../../../domain/ids.ts";
import type { Instance } from "../../../domain/instance.ts";
import type { Move } from "../../../domain/move.ts";
import type { Operation } from "../../../domain/operation.ts";
import type { CarriedStep, StoredPlan } from "../../../domain/plan.ts";
import type { ReleasePart } from "../../../domain/release.ts";
import type { RepositoryAccess } from "../../../domain/repository-access.ts";
import type { RepositoryCredential } from "../../../domain/repository-credential.ts";
import type { FrozenVersion, Rollout } from "../../../domain/rollout.ts";
import type { ShardObject } from "../../../domain/shard-object.ts";
import type { ShownServer } from "../../../domain/shown-server.ts";
import type { RecordedStatus } from "../../../domain/status.ts";
import type { SyncRun } from "../../../domain/sync-run.ts";
import type { UsageMark } from "../../../domain/usage.ts";
import type { Application, PlacementUnit, Workspace } from "../../../domain/workspace.ts";
import type { StoredFleet } from "../../fleet/port.ts";
import type { ClassLoadState, InstanceLoad, KnownLoad } from "../../load/port.ts";
import type { Lease, MemberAccount } from "../../member/port.ts";
import type { DoneMove } from "../../plan/port.ts";
import type { SplitRow } from "../../split/port.ts";
import type { TokenRecord } from "../../token/port.ts";
import type { UsedOnInstance } from "../../usage/port.ts";
import { createIndexedTable, type IndexedTable } from "./indexed-table.ts";

export interface MemoryUnitRow {
  readonly unit: PlacementUnit;
  /** Hash of why the last search found no instance for it. Absent while no search has failed since it was created or placed. */
  readonly unplaceable: string | undefined;
  /** Absent until it is measured. */
  readonly load?: KnownLoad | undefined;
  readonly createdAt: Millis;
}

export interface MemoryApplicationRow {
  readonly application: Application;
  readonly status: RecordedStatus | undefined;
  readonly blockage: Blockage | undefined;
  /** Rises with each change that the user should see. */
  readonly viewRevision: number;
  /** The view revision that the user's resource shows. Smaller than `viewRevision`: its status has to be written. */
  readonly publishedRevision: number;
  /** Hash of the status that was last written to the user's resource; empty before the first. */
  readonly publishedHash: string;
}

export interface OperationRow {
  readonly operation: Operation;
  /** The operation completes when this revision of its application, or a later one, is acknowledged. */
  readonly revision: number;
  /** Whether the message reports a problem on the instance. Otherwise it only says what the operation waits for, and users do not see it. */
  readonly isTrouble: boolean;
}

export interface SyncRunRow {
  readonly run: SyncRun;
  readonly apiCluster: string;
  /** Number in the order of recording. It orders runs that were created in the same second. */
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

/** Its state follows from the time. */
export type TokenRow = Omit<TokenRecord, "state"> & { readonly hash: string };

/**
 * What is kept of an application for a while after its cascading deletion has ended. It prevents that its row is created
 * again, and shows that an Application which is created late has to be deleted.
 */
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
  readonly units: IndexedTable<UnitId, MemoryUnitRow, "workspace" | "owner" | "settled">;
  readonly applications: IndexedTable<ApplicationId, MemoryApplicationRow, "unit" | "uid">;
  readonly endedApplications: IndexedTable<ApplicationId, EndedRow, "unit" | "uid">;
  readonly objects: IndexedTable<string, ShardObject, "subject">;
  readonly operations: IndexedTable<OperationId, OperationRow, "subject">;
  readonly syncRuns: IndexedTable<string, SyncRunRow, "application">;
  readonly environments: IndexedTable<EnvironmentId, Environment, "workspace" | "uid">;
  readonly instances: Map<InstanceId, Instance>;
  readonly decisions: Decision[];
  readonly audit: AuditRecord[];
  readonly directives: Map<WorkspaceId, Directive>;
  readonly instanceLoads: Map<InstanceId, InstanceLoad>;
  readonly classLoads: Map<string, ClassLoadState>;
  readonly usageMarks: Map<InstanceId, UsageMark>;
  /** By hour, instance and whose it is. */
  readonly usageHours: Map<string, Omit<UsedOnInstance, "labels"> & { readonly hour: number }>;
  readonly usageLabels: Map<WorkspaceId, { readonly labels: Readonly<Record<string, string>>; readonly goneAt: Millis | undefined }>;
  /** Oldest first. */
  readonly probeSamples: Map<InstanceId, readonly HealthSample[]>;
  readonly verdicts: Map<InstanceId, InstanceVerdict>;
  readonly plans: Map<PlanId, StoredPlan>;
  readonly planSteps: Map<PlanId, ReadonlyMap<UnitId, CarriedStep>>;
  readonly splits: Map<WorkspaceId, Pick<SplitRow, "parts" | "openPart" | "roomySince" | "deal">>;
  /** Changes of owner that were made, by live moves and without, oldest first. */
  readonly unitMoves: (DoneMove & { readonly class: string })[];
  /** Live moves, those under way and those that have ended. */
  readonly moves: Map<MoveId, Move>;
  readonly freezes: Map<string, Freeze>;
  readonly rollouts: Map<RolloutId, Rollout>;
  readonly frozenVersions: Map<string, FrozenVersion>;
  /** Names that Applications keep from another Argo CD, by uid of the user's resource. */
  readonly keptNames: Map<string, { readonly argoName: string; readonly at: Millis }>;
  readonly credentials: Map<CredentialId, CredentialRow>;
  /** By workspace and URL. */
  readonly repositoryAccess: Map<string, RepositoryAccess>;
  /** By group of places that would share a checkout, in the order in which they were first read. */
  readonly repositorySpellings: Map<string, readonly { readonly place: string; readonly workspaceId: WorkspaceId }[]>;
  readonly repositoryCredentials: IndexedTable<RepositoryCredentialId, RepositoryCredential, "workspace" | "uid">;
  readonly members: Map<MemberId, { readonly roles: readonly string[]; readonly expires: Millis; readonly account?: MemberAccount }>;
  readonly leases: Map<string, { readonly lease: Lease; readonly expires: Millis }>;
  readonly tokens: Map<string, TokenRow>;
  readonly reservedServers: Map<string, ShownServer>;
  /** By version and part. */
  readonly releaseParts: Map<string, ReleasePart>;
  readonly proposals: Map<ProposalId, FleetProposal>;
  fleet: StoredFleet | undefined;
  /** The last epoch given out: one sequence for all units. It never falls, so the epochs of a deleted unit are not used again. */
  lastEpoch: number;
  /** `place` of the sync run that was recorded last. */
  lastPlace: number;
}

/** The key by which a namespace's workspace is found. A namespace that was created again has another uid, and is another workspace. */
export function workspaceIdentity({ plane, apiCluster, namespaceUid }: Pick<Workspace, "plane" | "apiCluster" | "namespaceUid">): string {
  return [plane, apiCluster, namespaceUid].join("|");
}

export function createTables(): Tables {
  return {
    workspaces: createIndexedTable({ identity: (workspace: Workspace) => workspaceIdentity(workspace) }),
    units: createIndexedTable({
      workspace: ({ unit }) => unit.workspaceId,
      owner: ({ unit }) => unit.owner ?? "",
      settled: ({ unit }) => String(unit.owner !== undefined && unit.wantedClass === undefined && unit.isRegrouped !== true),
    }),
    applications: createIndexedTable({ unit: ({ application }) => application.unitId, uid: ({ application }) => application.uid }),
    endedApplications: createIndexedTable({ unit: ({ unitId }) => unitId, uid: ({ uid }) => uid }),
    objects: createIndexedTable({ subject: (object) => object.subject }),
    operations: createIndexedTable({ subject: ({ operation }) => operation.subject }),
    syncRuns: createIndexedTable({ application: ({ run }) => run.applicationId ?? "" }),
    environments: createIndexedTable({ workspace: ({ workspaceId }) => workspaceId, uid: ({ uid }) => uid }),
    instances: new Map(),
    decisions: [],
    audit: [],
    directives: new Map(),
    instanceLoads: new Map(),
    classLoads: new Map(),
    usageMarks: new Map(),
    usageHours: new Map(),
    usageLabels: new Map(),
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
    repositoryAccess: new Map(),
    repositorySpellings: new Map(),
    repositoryCredentials: createIndexedTable({ workspace: ({ workspaceId }) => workspaceId, uid: ({ uid }) => uid }),
    members: new Map(),
    leases: new Map(),
    tokens: new Map(),
    reservedServers: new Map(),
    releaseParts: new Map(),
    proposals: new Map(),
    fleet: undefined,
    lastEpoch: 0,
    lastPlace: 0,
  };
}

/** What every store method works with. Notifications are sent after the method has ended; one that throws sends none. */
export interface Transaction {
  readonly tables: Tables;
  now(): Millis;
  notify(kind: Change["kind"], id: string): void;
}

/**
 * Runs one store method as a transaction. `work` does not await, so transactions never interleave. Nothing is rolled back: a
 * method that throws has to do so before it changes a row.
 */
export type Transact = <Result>(signal: AbortSignal, work: (transaction: Transaction) => Result) => Promise<Result>;
