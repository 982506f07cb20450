import type { Prospect } from "../domain/partition.ts";
import type { FleetStore } from "../store/fleet/port.ts";
import { hasContent } from "./find-hosts.ts";
import type { Engines } from "./port.ts";

export interface ComingShareDeps {
  readonly fleet: Pick<FleetStore, "listInstances">;
  readonly engines: Pick<Engines, "get">;
}

/**
 * Begins to watch the instances that will be this process's once it has joined, and no others. Where others work on them until then, it resolves when all
 * of them are listed: nobody waits for that, and what was gained can be worked on at once. Where nobody does, it resolves as soon as they are watched.
 * An instance whose engine cluster cannot be reached is left out.
 */
export async function listComingShare(
  { isServed, willBeMine }: Prospect,
  { fleet, engines }: ComingShareDeps,
  signal: AbortSignal,
): Promise<void> {
  const coming = (await fleet.listInstances(signal)).filter((instance) => hasContent(instance) && willBeMine(instance.id));
  const shards = await Promise.all(coming.map((instance) => engines.get(instance).catch(() => undefined)));
  if (isServed) await Promise.all(shards.flatMap((shard) => (shard === undefined ? [] : [shard.synced(signal)])));
}
