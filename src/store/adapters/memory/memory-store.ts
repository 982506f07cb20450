import type { Change } from "../../../domain/change.ts";
import type { Clock } from "../../../domain/clock.ts";
import { UnavailableError } from "../../../domain/errors.ts";
import type { Store } from "../../port.ts";
import { createMemoryAuditStore } from "./audit.ts";
import { createMemoryChangeFeed, type MemoryChangeFeed } from "./change-feed.ts";
import { createMemoryCredentialStore } from "./credentials.ts";
import { createMemoryDecisionStore } from "./decisions.ts";
import { createMemoryDirectiveStore } from "./directives.ts";
import { createMemoryEnvironmentStore } from "./environments.ts";
import { createFleetStore, createProposalStore } from "./fleet.ts";
import { createMemoryHealthStore } from "./health.ts";
import { createIntentStore } from "./intents.ts";
import { createMemoryLoadStore } from "./loads.ts";
import { createMemoryMemberStore } from "./members.ts";
import { createMemoryMoveStore } from "./moves.ts";
import { createMemoryOperationStore } from "./operations.ts";
import { createMemoryOwnershipStore } from "./ownership.ts";
import { PART_RULES, type PartRules } from "./part-rules.ts";
import { createPlacementStore } from "./placements.ts";
import { createMemoryPlanStore } from "./plans.ts";
import { createMemoryRecoveryStore } from "./recovery.ts";
import { createMemoryRepositoryAccessStore } from "./repository-access.ts";
import { createMemoryRepositoryCredentialStore } from "./repository-credentials.ts";
import { createMemoryReservedServerStore } from "./reserved-servers.ts";
import { createMemoryRetentionStore } from "./retention.ts";
import { createMemoryRolloutStore } from "./rollouts.ts";
import { createShardStore } from "./shards.ts";
import { createMemorySplitStore } from "./splits.ts";
import { createStatusStore } from "./statuses.ts";
import { createSyncRunStore } from "./sync-runs.ts";
import { createTables, type Transact } from "./tables.ts";
import { createMemoryTokenStore } from "./tokens.ts";
import { createMemoryUsageStore } from "./usages.ts";

export interface MemoryStore extends Store {
  /** While it is away every method throws `UnavailableError`, and notifications are lost. */
  setAway(isAway: boolean): void;
}

/**
 * A store of the process's own memory, with the semantics of the one on PostgreSQL: what simulation and controllers' tests
 * run on. Methods never interleave; notifications arrive later, as from a database.
 */
export function createMemoryStore({ clock, rules = PART_RULES }: { readonly clock: Clock; readonly rules?: PartRules }): MemoryStore {
  const feed = createMemoryChangeFeed();
  let isAway = false;
  const transact = createTransact(clock, feed, () => isAway);
  return {
    intents: createIntentStore(transact),
    placements: createPlacementStore(transact),
    shards: createShardStore(transact),
    statuses: createStatusStore(transact),
    syncRuns: createSyncRunStore(transact),
    fleet: createFleetStore(transact),
    proposals: createProposalStore(transact),
    operations: createMemoryOperationStore(transact),
    decisions: createMemoryDecisionStore(transact),
    audit: createMemoryAuditStore(transact),
    directives: createMemoryDirectiveStore(transact),
    credentials: createMemoryCredentialStore(transact),
    environments: createMemoryEnvironmentStore(transact),
    repositoryAccess: createMemoryRepositoryAccessStore(transact),
    repositoryCredentials: createMemoryRepositoryCredentialStore(transact),
    loads: createMemoryLoadStore(transact),
    usages: createMemoryUsageStore(transact),
    health: createMemoryHealthStore(transact),
    members: createMemoryMemberStore(transact),
    plans: createMemoryPlanStore(transact),
    splits: createMemorySplitStore(transact, rules),
    moves: createMemoryMoveStore(transact, rules),
    ownership: createMemoryOwnershipStore(transact),
    recovery: createMemoryRecoveryStore(transact),
    reservedServers: createMemoryReservedServerStore(transact),
    retention: createMemoryRetentionStore(transact),
    rollouts: createMemoryRolloutStore(transact),
    tokens: createMemoryTokenStore(transact),
    changes: feed,
    ping: (signal) => transact(signal, () => ({ version: "memory", schema: 0, isDirect: true })),
    listLogins: (signal) => transact(signal, () => []),
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
