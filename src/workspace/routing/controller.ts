import type { Clock } from "../../domain/clock.ts";
import type { Partition } from "../../domain/partition.ts";
import type { KeyedQueue } from "../../runtime/keyed-queue.ts";
import { parseKey, shareOf } from "../keys.ts";
import type { UserResources } from "../port.ts";
import { createPatience } from "./patience.ts";

export interface RoutingDeps {
  readonly resources: UserResources;
  readonly partition: Partition;
  readonly clock: Clock;
  readonly queues: () => { readonly intents: KeyedQueue; readonly statuses: KeyedQueue };
}

/** Which queue hears of what. Keys of other processes' namespaces are dropped here. */
export interface Routing {
  /** These resources may ask for something else than is recorded. */
  review(keys: readonly string[]): void;
  /** The user of this resource should hear how it stands, at once or once its instance had time to answer. */
  tell(key: string, when: "now" | "soon"): void;
  /** The row of this resource changed, or has gone. */
  onRow(key: string, when: "now" | "soon"): void;
}

export function createRouting({ resources, partition, clock, queues }: RoutingDeps): Routing {
  const patience = createPatience(clock);
  const review = (keys: readonly string[]): void => {
    for (const { key, group } of shareOf(keys, partition)) queues().intents.add(key, { group });
  };
  const tell = (key: string, when: "now" | "soon"): void => {
    for (const { group } of shareOf([key], partition))
      queues().statuses.add(key, { group, afterMs: when === "now" ? 0 : patience.waitMs() });
  };
  return {
    review,
    tell,
    onRow(key, when) {
      if (when === "now") patience.answered();
      // A resource held by its finalizer waits for just this.
      if (resources.deployment(parseKey(key))?.isDeleting === true) review([key]);
      tell(key, when);
    },
  };
}
