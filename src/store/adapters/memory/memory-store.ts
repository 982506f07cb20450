import type { Change } from "../../../domain/change.ts";
import type { Clock } from "../../../domain/clock.ts";
import { UnavailableError } from "../../../domain/errors.ts";
import type { Store } from "../../port.ts";
import { createChangeFeed, type MemoryChangeFeed } from "./change-feed.ts";
import { createCredentialStore } from "./credentials.ts";
import { createDecisionStore } from "./decisions.ts";
import { createDirectiveStore } from "./directives.ts";
import { createEnvironmentStore } from "./environments.ts";
import { createFleetStore } from "./fleet.ts";
import { createHealthStore } from "./health.ts";
import { createIntentStore } from "./intents.ts";
import { createLoadStore } from "./loads.ts";
import { createMemberStore } from "./members.ts";
import { createMoveStore } from "./moves.ts";
import { createOperationStore } from "./operations.ts";
import { createOwnershipStore } from "./ownership.ts";
import { createPlacementStore } from "./placements.ts";
import { createPlanStore } from "./plans.ts";
import { createRecoveryStore } from "./recovery.ts";
import { createRepositoryCredentialStore } from "./repository-credentials.ts";
import { createReservedServerStore } from "./reserved-servers.ts";
import { createRetentionStore } from "./retention.ts";
import { createRolloutStore } from "./rollouts.ts";
import { createShardStore } from "./shards.ts";
import { createSplitStore } from "./splits.ts";
import { createStatusStore } from "./statuses.ts";
import { createSyncRunStore } from "./sync-runs.ts";
import { createTables, type Transact } from "./tables.ts";
import { createTokenStore } from "./tokens.ts";

export interface MemoryStore extends Store {
  /** While it is away every method throws `UnavailableError`, and hints are lost. */
  setAway(isAway: boolean): void;
}

/**
 * A store of the process's own memory, with the semantics of the one on PostgreSQL: what simulation and controllers' tests
 * run on. Methods never interleave; hints arrive later, as from a database.
 */
export function createMemoryStore({ clock }: { readonly clock: Clock }): MemoryStore {
  const feed = createChangeFeed();
  let isAway = false;
  const transact = createTransact(clock, feed, () => isAway);
  return {
    intents: createIntentStore(transact),
    placements: createPlacementStore(transact),
    shards: createShardStore(transact),
    statuses: createStatusStore(transact),
    syncRuns: createSyncRunStore(transact),
    fleet: createFleetStore(transact),
    operations: createOperationStore(transact),
    decisions: createDecisionStore(transact),
    directives: createDirectiveStore(transact),
    credentials: createCredentialStore(transact),
    environments: createEnvironmentStore(transact),
    repositoryCredentials: createRepositoryCredentialStore(transact),
    loads: createLoadStore(transact),
    health: createHealthStore(transact),
    members: createMemberStore(transact),
    plans: createPlanStore(transact),
    splits: createSplitStore(transact),
    moves: createMoveStore(transact),
    ownership: createOwnershipStore(transact),
    recovery: createRecoveryStore(transact),
    reservedServers: createReservedServerStore(transact),
    retention: createRetentionStore(transact),
    rollouts: createRolloutStore(transact),
    tokens: createTokenStore(transact),
    changes: feed,
    ping: (signal) => transact(signal, () => ({ version: "memory", schema: 0, isDirect: true })),
    async close() {
      isAway = true;
      feed.setAway(true);
    },
    setAway(away) {
      isAway = away;
      feed.setAway(away);
    },
  };
}

function createTransact(clock: Clock, feed: MemoryChangeFeed, isAway: () => boolean): Transact {
  const tables = createTables();
  return async (signal, work) => {
    signal.throwIfAborted();
    if (isAway()) throw new UnavailableError("reaching the database", { code: "store.unavailable" });
    const notifications = new Map<string, Change>();
    const notify = (kind: Change["kind"], id: string): void => void notifications.set(`${kind}:${id}`, { kind, id });
    const result = work({ tables, now: () => clock.now(), notify });
    feed.send([...notifications.values()]);
    return result;
  };
}
