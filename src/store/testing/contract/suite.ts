import { afterEach, beforeEach, describe } from "vitest";
import { createWorld, type OpenStore, type World } from "../world.ts";
import { describeAudit } from "./audit.ts";
import { describeClasses } from "./classes.ts";
import { describeCredentials } from "./credentials.ts";
import { describeDeletions } from "./deletions.ts";
import { describeDirectives } from "./directives.ts";
import { describeEnvironments } from "./environments.ts";
import { describeFleet } from "./fleet.ts";
import { describeGroups } from "./groups.ts";
import { describeHealth } from "./health.ts";
import { describeIntents } from "./intents.ts";
import { describeLoads } from "./loads.ts";
import { describeMembers } from "./members.ts";
import { describeMoves } from "./moves.ts";
import { describeOwnership } from "./ownership.ts";
import { describeParts } from "./parts.ts";
import { describePlacements } from "./placements.ts";
import { describePlans } from "./plans.ts";
import { describeProgress } from "./progress.ts";
import { describeRecovery } from "./recovery.ts";
import { describeRepositoryAccess } from "./repository-access.ts";
import { describeRepositoryCredentials } from "./repository-credentials.ts";
import { describeReservedServers } from "./reserved-servers.ts";
import { describeRetention } from "./retention.ts";
import { describeRollouts } from "./rollouts.ts";
import { describeShards } from "./shards.ts";
import { describeSplits } from "./splits.ts";
import { describeStatuses } from "./statuses.ts";
import { describeStoreItself } from "./store.ts";
import { describeSyncRuns } from "./sync-runs.ts";
import { describeTokens } from "./tokens.ts";
import { describeUsages } from "./usages.ts";
import { describeViews } from "./views.ts";

const PARTS = [
  describeIntents,
  describeDeletions,
  describeViews,
  describePlacements,
  describeClasses,
  describeGroups,
  describeShards,
  describeProgress,
  describeStatuses,
  describeSyncRuns,
  describeDirectives,
  describeEnvironments,
  describeFleet,
  describeHealth,
  describeLoads,
  describeUsages,
  describeMembers,
  describeMoves,
  describeOwnership,
  describePlans,
  describeSplits,
  describeParts,
  describeRecovery,
  describeReservedServers,
  describeAudit,
  describeRetention,
  describeRollouts,
  describeCredentials,
  describeRepositoryCredentials,
  describeTokens,
  describeRepositoryAccess,
  describeStoreItself,
];

/** What every store must do, each test on an empty one. */
export function describeStore(name: string, open: OpenStore): void {
  describe(name, () => {
    let world: World;
    let close: () => Promise<void>;
    beforeEach(async () => {
      const opened = await open();
      world = createWorld(opened.store);
      close = opened.close;
    });
    afterEach(() => close());
    for (const part of PARTS) part(() => world);
  });
}
