import type { Change } from "../domain/change.ts";
import type { Decision } from "../domain/decision.ts";
import type { Assignment, Directive, Freeze, Hold, Pin } from "../domain/directive.ts";
import type { ApplicationId, RolloutId, UnitId, WorkspaceId } from "../domain/ids.ts";
import type { Owned } from "../domain/ownership.ts";
import type { FrozenVersion, Rollout } from "../domain/rollout.ts";
import type { ShownServer } from "../domain/shown-server.ts";
import type { RecordedRefresh, RecordedStatus } from "../domain/status.ts";
import type { AuditStore } from "./audit/port.ts";
import type { CredentialStore } from "./credential/port.ts";
import type { DecisionStore } from "./decision/port.ts";
import type { EnvironmentStore } from "./environment/port.ts";
import type { FleetStore, ProposalStore } from "./fleet/port.ts";
import type { HealthStore } from "./health/port.ts";
import type { IntentStore } from "./intent/port.ts";
import type { LoadStore } from "./load/port.ts";
import type { MemberStore } from "./member/port.ts";
import type { MoveStore } from "./move/port.ts";
import type { OperationStore } from "./operation/port.ts";
import type { PlacementStore } from "./placement/port.ts";
import type { PlanStore } from "./plan/port.ts";
import type { RecoveryStore } from "./recovery/port.ts";
import type { RepositoryAccessStore } from "./repository-access/port.ts";
import type { RepositoryCredentialStore } from "./repository-credential/port.ts";
import type { RetentionStore } from "./retention/port.ts";
import type { ShardStore } from "./shard/port.ts";
import type { SplitStore } from "./split/port.ts";
import type { SyncRunStore } from "./sync-run/port.ts";
import type { TokenStore } from "./token/port.ts";
import type { UsageStore } from "./usage/port.ts";

/**
 * The one port to the database. Each method is one transaction. A method that loses a race throws `StaleError` or says so
 * in its result; one that cannot reach the database throws `UnavailableError`. Batches may be given in any order and must
 * not name the same row twice; results come in the order of the input.
 */
export interface Store {
  readonly intents: IntentStore;
  readonly placements: PlacementStore;
  readonly shards: ShardStore;
  readonly statuses: StatusStore;
  readonly syncRuns: SyncRunStore;
  readonly fleet: FleetStore;
  readonly proposals: ProposalStore;
  readonly operations: OperationStore;
  readonly decisions: DecisionStore;
  readonly audit: AuditStore;
  readonly directives: DirectiveStore;
  readonly credentials: CredentialStore;
  readonly environments: EnvironmentStore;
  readonly repositoryAccess: RepositoryAccessStore;
  readonly repositoryCredentials: RepositoryCredentialStore;
  readonly loads: LoadStore;
  readonly usages: UsageStore;
  readonly health: HealthStore;
  readonly members: MemberStore;
  readonly plans: PlanStore;
  readonly splits: SplitStore;
  readonly moves: MoveStore;
  readonly ownership: OwnershipStore;
  readonly recovery: RecoveryStore;
  readonly reservedServers: ReservedServerStore;
  readonly retention: RetentionStore;
  readonly rollouts: RolloutStore;
  readonly tokens: TokenStore;
  readonly changes: ChangeFeed;
  /**
   * Resolves when the database answers a query; throws `UnavailableError` otherwise. `isDirect`: the settings that each connection
   * asks for are in force, which they are not behind a pooler that hands connections around.
   */
  ping(signal: AbortSignal): Promise<{ readonly version: string; readonly schema: number; readonly isDirect: boolean }>;
  /** Whose connections programs of ours have to the database at this moment; sorted by user. */
  listLogins(signal: AbortSignal): Promise<readonly DatabaseLogin[]>;
  close(): Promise<void>;
}

export interface DatabaseLogin {
  readonly user: string;
  /** It owns the tables, or can become who does: no right limits it. */
  readonly isOwner: boolean;
}

/** Notifications of committed changes. A lost one costs the time until the next sweep, never truth. */
export interface ChangeFeed {
  /**
   * Calls `listener` with each batch of notifications, and with `"missed"` whenever some may have been lost (first connection
   * included): the listener then sweeps. The returned function ends the subscription.
   */
  subscribe(listener: (changes: readonly Change[] | "missed") => void): () => void;
  /** Sends a notification to itself; whether it arrived before the signal aborted. */
  hears(signal: AbortSignal): Promise<boolean>;
  /** True while the connection that notifications arrive on is up. */
  isConnected(): boolean;
}

/** What a person orders about a workspace. An absent member stays as it is; `undefined` takes the order back. */
export interface DirectiveChange {
  readonly workspaceId: WorkspaceId;
  readonly change: { readonly pin: Pin | undefined } | { readonly hold: Hold | undefined } | { readonly assigned: Assignment | undefined };
  readonly decision: Decision;
}

/** People's standing orders about where workspaces live and when nothing moves. Written by SREs' commands, each with its entry in the journal. */
export interface DirectiveStore {
  /**
   * Changes one order and notifies the workspace's units, and `class` where that is what was ordered. Their rows count as changed, so that a placement that was decided
   * without the order is decided again. Throws `GoneError` when there is no such workspace.
   */
  direct(change: DirectiveChange, signal: AbortSignal): Promise<void>;
  /** No orders where nothing is recorded. */
  read(workspaceId: WorkspaceId, signal: AbortSignal): Promise<Directive>;
  /** Makes or replaces the freeze of that name. */
  putFreeze(freeze: Freeze, decision: Decision, signal: AbortSignal): Promise<void>;
  /** Returns whether there was one of that name; the decision is journaled only then. */
  dropFreeze(name: string, decision: Decision, signal: AbortSignal): Promise<boolean>;
  /** Sorted by name. */
  listFreezes(signal: AbortSignal): Promise<readonly Freeze[]>;
}

export interface OwnedApplication extends Owned {
  readonly id: ApplicationId;
}

/**
 * Which instance should own which application. Read by the watchdog, which compares it with the Applications on instances. Whatever changes an answer notifies
 * `application` or `unit` of it; what makes one stand for the first time, or removes it, may notify `status` alone.
 */
export interface OwnershipStore {
  /** Of the next `limit` applications after an id, those of placed units, sorted by id. `next`: the id to go on after; absent: none follows. */
  listOwned(
    page: { readonly after: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly owned: readonly OwnedApplication[]; readonly next: ApplicationId | undefined }>;
  /** Those of placed units that are among the applications, in one of the units, or have one of the names; sorted by id. */
  readOwned(chosen: ChosenApplications, signal: AbortSignal): Promise<readonly OwnedApplication[]>;
}

export interface ChosenApplications {
  readonly applications: readonly ApplicationId[];
  readonly units: readonly UnitId[];
  /** Names of Applications on instances. */
  readonly argoNames: readonly string[];
}

/** What gave servers away that no user may deploy to: whoever starts while one of them is away knows it from here. */
export interface ReservedServerStore {
  read(server: string, signal: AbortSignal): Promise<ShownServer | undefined>;
  /** Keeps what it showed instead of what was kept of it before. */
  keep(shown: ShownServer, signal: AbortSignal): Promise<void>;
}

export interface RolloutChange {
  /** Its `revision` is that which the change was decided on. */
  readonly rollout: Rollout;
  /** For the journal; `undefined`: nothing was decided. */
  readonly decision: Decision | undefined;
  /** Keeps its version from being given to anybody. */
  readonly freezes?: string;
}

/** Rollouts of releases, and releases that failed. Written by the rollouts' role and by SREs' commands. */
export interface RolloutStore {
  /** Adds a rollout unless another one is live; returns that one. */
  create(rollout: Rollout, decision: Decision, signal: AbortSignal): Promise<Rollout | undefined>;
  /**
   * Conditional on the revision; throws `StaleError` when the row has moved on. Notifies `rollout`. Returns the new row.
   */
  change(change: RolloutChange, signal: AbortSignal): Promise<Rollout>;
  read(id: RolloutId, signal: AbortSignal): Promise<Rollout | undefined>;
  /** The one that has not ended. */
  readLive(signal: AbortSignal): Promise<Rollout | undefined>;
  /** Newest first. */
  list(limit: number, signal: AbortSignal): Promise<readonly Rollout[]>;
  /** Sorted by version. */
  listFrozen(signal: AbortSignal): Promise<readonly FrozenVersion[]>;
  /** Returns whether the version was frozen; only then the decision is journaled. */
  unfreeze(version: string, decision: Decision, signal: AbortSignal): Promise<boolean>;
}

/** Status of applications as the instances report it. Written by the reconciler. */
export interface StatusStore {
  /**
   * Upserts a batch and notifies `status` for each changed hash. A status that comes from an instance or epoch that no
   * longer owns the unit is dropped. So is one that is older than the one recorded (`reconciledAt`, and `version` within one second), because
   * a writer may be delayed. Returns the ids whose hash changed.
   */
  recordStatuses(statuses: readonly RecordedStatus[], signal: AbortSignal): Promise<readonly ApplicationId[]>;
  /**
   * Notes a batch of mere refreshes: time and version, where the very status that was refreshed is recorded, of the same instance and epoch, and
   * nothing later. Notifies nobody. Returns the ids of which it was; the others' statuses have to be recorded as a whole.
   */
  recordRefreshes(refreshes: readonly RecordedRefresh[], signal: AbortSignal): Promise<readonly ApplicationId[]>;
}
