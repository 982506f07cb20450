import type { Change } from "../domain/change.ts";
import type { CredentialStore } from "./credential/port.ts";
import type { DecisionStore } from "./decision/port.ts";
import type { DirectiveStore } from "./directive/port.ts";
import type { EnvironmentStore } from "./environment/port.ts";
import type { FleetStore } from "./fleet/port.ts";
import type { HealthStore } from "./health/port.ts";
import type { IntentStore } from "./intent/port.ts";
import type { LoadStore } from "./load/port.ts";
import type { MemberStore } from "./member/port.ts";
import type { MoveStore } from "./move/port.ts";
import type { OperationStore } from "./operation/port.ts";
import type { OwnershipStore } from "./ownership/port.ts";
import type { PlacementStore } from "./placement/port.ts";
import type { PlanStore } from "./plan/port.ts";
import type { RecoveryStore } from "./recovery/port.ts";
import type { RepositoryCredentialStore } from "./repository-credential/port.ts";
import type { ReservedServerStore } from "./reserved-server/port.ts";
import type { RetentionStore } from "./retention/port.ts";
import type { RolloutStore } from "./rollout/port.ts";
import type { ShardStore } from "./shard/port.ts";
import type { SplitStore } from "./split/port.ts";
import type { StatusStore } from "./status/port.ts";
import type { SyncRunStore } from "./sync-run/port.ts";
import type { TokenStore } from "./token/port.ts";

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
  readonly operations: OperationStore;
  readonly decisions: DecisionStore;
  readonly directives: DirectiveStore;
  readonly credentials: CredentialStore;
  readonly environments: EnvironmentStore;
  readonly repositoryCredentials: RepositoryCredentialStore;
  readonly loads: LoadStore;
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
  close(): Promise<void>;
}

/** Hints of committed changes. A lost hint costs the time until the next sweep, never truth. */
export interface ChangeFeed {
  /**
   * Calls `listener` with each batch of hints, and with `"missed"` whenever hints may have been lost (first connection
   * included): the listener then sweeps. The returned function ends the subscription.
   */
  subscribe(listener: (changes: readonly Change[] | "missed") => void): () => void;
  /** Sends a hint to itself; whether it arrived before the signal aborted. */
  hears(signal: AbortSignal): Promise<boolean>;
  /** True while the connection that hints arrive on is up. */
  isConnected(): boolean;
}
