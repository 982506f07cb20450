import { afterEach, beforeEach, describe } from "vitest";
import { createWorld, type OpenStore, type World } from "../world.ts";
import { describeCredentials } from "./credentials.ts";
import { describeDeletions } from "./deletions.ts";
import { describeFleet } from "./fleet.ts";
import { describeIntents } from "./intents.ts";
import { describeMembers } from "./members.ts";
import { describePlacements } from "./placements.ts";
import { describeShards } from "./shards.ts";
import { describeStatuses } from "./statuses.ts";
import { describeStoreItself } from "./store.ts";
import { describeViews } from "./views.ts";

const PARTS = [
  describeIntents,
  describeDeletions,
  describeViews,
  describePlacements,
  describeShards,
  describeStatuses,
  describeFleet,
  describeMembers,
  describeCredentials,
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
