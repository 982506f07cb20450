import type { Partition, ShareChange } from "../../domain/partition.ts";
import { createKeyedQueue, type KeyedQueueOptions, type KeyOptions } from "../keyed-queue.ts";

export interface PartitionedQueueOptions extends KeyedQueueOptions {
  /** This process's share of the groups. */
  readonly partition: Pick<Partition, "isMine">;
  /** The group of a key: keys of a group are worked on by one process, and groups take turns. */
  readonly groupOf: (key: string) => string;
}

export interface PartitionedQueue {
  /** Asks for one run for each of these keys that is of this process's share, now or after `afterMs`. Other keys are dropped. */
  add(keys: readonly string[], options?: Pick<KeyOptions, "afterMs">): void;
  /**
   * Asks for one run for each of these keys that was gained, in the background, now or after `afterMs`: another process has worked on it until now, and
   * what users change goes first.
   */
  takeOver(keys: readonly string[], gained: ShareChange["gained"], options?: Pick<KeyOptions, "afterMs">): void;
  start(): void;
  /** Starts no more runs and resolves when those under way have ended. */
  stop(): Promise<void>;
}

/**
 * Creates a keyed queue that takes only the keys of this process's share. A key is dropped when it is added, not when its turn comes:
 * a share that changed in between costs a run that another process does too, never a wrong one.
 */
export function createPartitionedQueue(options: PartitionedQueueOptions): PartitionedQueue {
  const { partition, groupOf } = options;
  const queue = createKeyedQueue(options);
  return {
    add(keys, after) {
      for (const key of keys) {
        const group = groupOf(key);
        if (partition.isMine(group)) queue.add(key, { ...after, group });
      }
    },
    takeOver(keys, gained, after) {
      for (const key of keys) {
        const group = groupOf(key);
        if (gained(group)) queue.add(key, { ...after, isBackground: true, group });
      }
    },
    start: queue.start,
    stop: queue.stop,
  };
}
