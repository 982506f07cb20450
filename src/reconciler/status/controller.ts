import type { Clock } from "../../domain/clock.ts";
import type { Partition } from "../../domain/partition.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { ObjectAt } from "../../shard/managed-object.ts";
import { holderOf } from "../../shard/parse-application.ts";
import type { LastRecord } from "../../shard/record-status.ts";
import { statusToRecord, waitForOthersMs } from "../../shard/record-status.ts";
import type { EngineShard } from "../port.ts";
import type { Rows } from "../rows/controller.ts";

/** Records what Argo CD says of the applications of our instances. */
export interface StatusController {
  reconcile(key: string, signal: AbortSignal): Promise<WorkResult | void>;
}

export interface StatusControllerDeps {
  readonly rows: Rows;
  readonly partition: Partition;
  /** Engine clusters that are being watched. */
  readonly engines: ReadonlyMap<string, EngineShard>;
  readonly clock: Clock;
}

export function statusKey(cluster: string, at: ObjectAt): string {
  return `${cluster}|${at.namespace}|${at.name}`;
}

export function createStatusController({ rows, partition, engines, clock }: StatusControllerDeps): StatusController {
  const recorded = new Map<string, LastRecord>();
  return {
    async reconcile(key, signal) {
      const [cluster = "", namespace = "", name = ""] = key.split("|");
      const observed = engines.get(cluster)?.applications.get({ namespace, name });
      const holder = observed === undefined ? undefined : holderOf(observed);
      if (observed === undefined || holder === undefined || !partition.isMine(holder)) return void recorded.delete(key);
      const status = statusToRecord(observed, recorded.get(key));
      if (status === undefined) return undefined;
      const waitMs = waitForOthersMs(status, recorded.get(key), clock.now());
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      await rows.recordStatus(status, signal);
      recorded.set(key, { hash: status.hash, epoch: status.epoch, reconciledAt: status.reconciledAt });
      return undefined;
    },
  };
}
