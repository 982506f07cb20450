import { type Clock, millis } from "../../domain/clock.ts";
import type { Ids } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { DecisionStore } from "../../store/decision/port.ts";
import type { IntentStore, OverdueCascade } from "../../store/intent/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { GIVE_UP_AFTER_MS, givenUp } from "./give-up.ts";

export interface OverdueDeps {
  readonly apiCluster: string;
  readonly intents: Pick<IntentStore, "listOverdue" | "recordDeletions">;
  readonly decisions: Pick<DecisionStore, "append">;
  readonly partition: Partition;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Applications that are read, and given up, with one statement. */
const PAGE = 500;

/**
 * Gives up deleting what namespaces that are gone had deployed elsewhere and what has not gone in time: it stays there, and that is reported to SREs.
 * The report comes first: after a crash in between they get it twice, and never not at all.
 */
export function createOverdueSweep(deps: OverdueDeps): (signal: AbortSignal) => Promise<void> {
  const { apiCluster, intents, decisions, partition, clock, ids, log } = deps;
  const orphaned = deps.metrics.counter(
    "argosy_workspace_orphaned_applications_total",
    "Applications of namespaces that are gone whose objects were left where they are because they did not go in time.",
  );
  const giveUp = async (overdue: readonly OverdueCascade[], signal: AbortSignal): Promise<void> => {
    if (overdue.length === 0) return;
    const now = clock.now();
    const reported = givenUp(overdue, now);
    for (const { details } of reported) log.warn(details, "Leaving what a namespace that is gone had deployed");
    await decisions.append(reported, signal);
    await intents.recordDeletions(
      overdue.map(({ uid }) => ({ uid, deletion: "orphan", operationId: ids.next<never>() })),
      signal,
    );
    orphaned.add(overdue.length);
  };
  return async (signal) => {
    const before = millis(clock.now() - GIVE_UP_AFTER_MS);
    // Another process's are passed over: those behind them are this one's.
    for (let after: string | undefined = ""; after !== undefined; ) {
      const found: readonly OverdueCascade[] = await intents.listOverdue({ apiCluster, before, limit: PAGE, after }, signal);
      await giveUp(
        found.filter(({ namespace }) => partition.isMine(namespace)),
        signal,
      );
      after = found.length < PAGE ? undefined : found.at(-1)?.uid;
    }
  };
}
