import type { Change } from "../domain/change.ts";
import type { CredentialStore } from "./credential/port.ts";
import type { DecisionStore } from "./decision/port.ts";
import type { FleetStore } from "./fleet/port.ts";
import type { IntentStore } from "./intent/port.ts";
import type { MemberStore } from "./member/port.ts";
import type { OperationStore } from "./operation/port.ts";
import type { PlacementStore } from "./placement/port.ts";
import type { ShardStore } from "./shard/port.ts";
import type { StatusStore } from "./status/port.ts";
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
  readonly fleet: FleetStore;
  readonly operations: OperationStore;
  readonly decisions: DecisionStore;
  readonly credentials: CredentialStore;
  readonly members: MemberStore;
  readonly tokens: TokenStore;
  readonly changes: ChangeFeed;
  /** Resolves when the database answers a query; throws `UnavailableError` otherwise. */
  ping(signal: AbortSignal): Promise<{ readonly version: string; readonly schema: number }>;
  close(): Promise<void>;
}

/** Hints of committed changes. A lost hint costs the time until the next sweep, never truth. */
export interface ChangeFeed {
  /**
   * Calls `listener` with each batch of hints, and with `"missed"` whenever hints may have been lost (first connection
   * included): the listener then sweeps. The returned function ends the subscription.
   */
  subscribe(listener: (changes: readonly Change[] | "missed") => void): () => void;
  /** True while the connection that hints arrive on is up. */
  isConnected(): boolean;
}
