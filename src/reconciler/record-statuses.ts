import type { Clock } from "../domain/clock.ts";
import type { Partition, ShareChange } from "../domain/partition.ts";
import type { RecordedRefresh, RecordedStatus } from "../domain/status.ts";
import type { WorkResult } from "../runtime/keyed-queue.ts";
import { holderOf, type ObservedApplication } from "../shard/parse-application.ts";
import { letGoOfStatus } from "../shard/project-status.ts";
import { type LastRecord, waitForOthersMs, whatToRecord } from "../shard/record-status.ts";
import { parseStatusKey } from "./keys.ts";
import type { EngineShard } from "./port.ts";
import type { Rows } from "./read-and-record-rows.ts";

export interface RecordStatusDeps {
  readonly rows: Pick<Rows, "recordStatus" | "recordRefresh">;
  readonly partition: Partition;
  /** The content of instances of ours, by `placeKey`. */
  readonly watched: ReadonlyMap<string, EngineShard>;
  readonly clock: Clock;
}

/** Records what Argo CD says of Applications. */
export interface RecordStatus {
  /** Records what it says of the one that a `statusKey` names, if that has changed and the instance is ours. */
  record(key: string, signal: AbortSignal): Promise<WorkResult | void>;
  /** Forgets what was recorded of instances that are another's now, or were: that process may have recorded something else. */
  forgetOthers(change: Pick<ShareChange, "gained">): void;
}

/** What was recorded last, and the instance it was recorded for. */
interface Recorded {
  readonly holder: string;
  readonly last: LastRecord;
}

export function createRecordStatus({ rows, partition, watched, clock }: RecordStatusDeps): RecordStatus {
  const recorded = new Map<string, Recorded>();

  /** What has been recorded is not kept twice. Of what is being deleted it is needed: it says what has to go. */
  const letGo = ({ report, isDeleting }: ObservedApplication): void => {
    if (report !== undefined && !isDeleting) letGoOfStatus(report);
  };

  const remember = (key: string, { instanceId, hash, epoch, reconciledAt }: RecordedRefresh): void =>
    void recorded.set(key, { holder: instanceId, last: { hash, epoch, reconciledAt } });

  const recordStatus = async (key: string, status: RecordedStatus, signal: AbortSignal): Promise<void> => {
    await rows.recordStatus(status, signal);
    remember(key, status);
  };

  const recordRefresh = async (key: string, refresh: RecordedRefresh, signal: AbortSignal): Promise<WorkResult | void> => {
    const waitMs = waitForOthersMs(clock.now());
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    if (await rows.recordRefresh(refresh, signal)) return remember(key, refresh);
    // Somebody has recorded another status since, or the database is an older one: what is remembered counts no more.
    recorded.delete(key);
    return { requeueAfterMs: 0 };
  };

  const record = async (key: string, signal: AbortSignal): Promise<WorkResult | void> => {
    const { place, at } = parseStatusKey(key);
    const applications = watched.get(place)?.applications;
    const observed = applications?.get(at);
    const holder = observed === undefined ? undefined : holderOf(observed);
    if (applications === undefined || observed === undefined || holder === undefined || !partition.isMine(holder))
      return void recorded.delete(key);
    const last = recorded.get(key)?.last;
    const seen = whatToRecord(observed, last);
    if (seen?.kind === "refresh") return recordRefresh(key, seen.refresh, signal);
    const read = seen?.kind === "unread" ? await applications.read(at, signal) : undefined;
    const known = read === undefined ? seen : whatToRecord(read, last);
    if (known?.kind === "status") await recordStatus(key, known.status, signal);
    return letGo(observed);
  };
  return {
    record,
    forgetOthers({ gained }) {
      const holders = new Set([...recorded.values()].map(({ holder }) => holder));
      const kept = new Set([...holders].filter((holder) => partition.isMine(holder) && !gained(holder)));
      for (const [key, { holder }] of recorded) if (!kept.has(holder)) recorded.delete(key);
    },
  };
}
