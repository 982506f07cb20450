import { expect, it } from "vitest";
import { startFleet } from "../fleet/fleet.ts";
import { createUsers } from "../fleet/users.ts";
import { createHistory } from "../history.ts";
import { createFailpoints } from "../world/failpoints.ts";
import { createNetwork } from "../world/network.ts";
import { createWorld } from "../world/world.ts";

/** Time in which everything is deployed, and each instance is compared thoroughly for the first time. */
const SETTLE_MS = 120_000;
/** So long that each instance is compared thoroughly once. */
const IDLE_MS = 300_000;
const WORKSPACES_PER_INSTANCE = 2;

/** What the thorough comparison of an instance asks for: once in this time, and less often where a process has more than fifty instances. */
const THOROUGH = ["shards.listActing", "shards.listApplications", "shards.listLagging", "shards.listOwned", "syncRuns.listBusy"];

/** Statements that one process of Argosy sends while nothing happens in its fleet for five minutes: how often, by name. */
async function sentAtRest(instances: number): Promise<ReadonlyMap<string, number>> {
  const history = createHistory(false);
  const world = createWorld("at rest", history);
  const network = createNetwork(world, createFailpoints(world.rng.fork("faults"), [], undefined));
  const counts = new Map<string, number>();
  let isCounting = false;
  history.follow(({ happening }) => {
    if (!isCounting || happening.kind !== "call" || !happening.name.startsWith("store.")) return;
    const name = happening.name.slice("store.".length);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  });
  const fleet = await startFleet({ world, network, members: 1, instances, servers: 1, breaker: (ports) => ports });
  const users = createUsers(fleet, instances * WORKSPACES_PER_INSTANCE);
  for (let index = 1; index <= instances * WORKSPACES_PER_INSTANCE; index += 1) users.create(`team-${index}`);
  await world.run(SETTLE_MS);
  isCounting = true;
  await world.run(IDLE_MS);
  const { signal } = new AbortController();
  const { owned } = await fleet.database.rows.ownership.listOwned({ after: "", limit: 1_000 }, signal);
  expect(owned).toHaveLength(instances * WORKSPACES_PER_INSTANCE);
  world.close();
  return counts;
}

it("costs the database as many statements with twenty instances as with two, but for the thorough comparison of each", async () => {
  const [few, many] = [await sentAtRest(2), await sentAtRest(20)];
  expect([...few.keys()]).toContain("shards.listLagging");
  const more = [...many].flatMap(([name, count]) => {
    const each = THOROUGH.includes(name) ? 18 : 0;
    // A timer may fire once more in the same time: how they are spread is left to chance.
    return count > (few.get(name) ?? 0) + each + 2 ? [`${name}: ${few.get(name) ?? 0}, then ${count}`] : [];
  });
  expect(more).toEqual([]);
});
