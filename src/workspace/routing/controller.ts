import type { Partition } from "../../domain/partition.ts";
import type { KeyedQueue } from "../../runtime/keyed-queue.ts";
import { parseKey } from "../keys.ts";
import type { UserResources } from "../port.ts";

export interface RoutingDeps {
  readonly resources: UserResources;
  readonly partition: Partition;
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

/**
 * How long an instance is given to answer a new wish before its user is told that it is being worked on, in ms. Argo CD
 * reports a first status within half a second: most users are told once, with what they want to know.
 */
const FIRST_STATUS_MS = 700;

export function createRouting({ resources, partition, queues }: RoutingDeps): Routing {
  const review = (keys: readonly string[]): void => {
    for (const key of keys) {
      const group = parseKey(key).namespace;
      if (partition.isMine(group)) queues().intents.add(key, { group });
    }
  };
  const tell = (key: string, when: "now" | "soon"): void => {
    const group = parseKey(key).namespace;
    if (partition.isMine(group)) queues().statuses.add(key, { group, afterMs: when === "now" ? 0 : FIRST_STATUS_MS });
  };
  return {
    review,
    tell,
    onRow(key, when) {
      // A resource held by its finalizer waits for just this.
      if (resources.deployment(parseKey(key))?.isDeleting === true) review([key]);
      tell(key, when);
    },
  };
}
