import { type Clock, millis } from "../../domain/clock.ts";
import type { Ids } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { DecisionStore } from "../../store/decision/port.ts";
import type { IntentStore } from "../../store/intent/port.ts";
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

/** Applications given up in one run; the next run is soon. */
const LIMIT = 500;

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
  return async (signal) => {
    const now = clock.now();
    const found = await intents.listOverdue({ apiCluster, before: millis(now - GIVE_UP_AFTER_MS), limit: LIMIT }, signal);
    const overdue = found.filter(({ namespace }) => partition.isMine(namespace));
    if (overdue.length === 0) return;
    const reported = givenUp(overdue, now);
    for (const { details } of reported) log.warn(details, "Leaving what a namespace that is gone had deployed");
    await decisions.append(reported, signal);
    await intents.recordDeletions(
      overdue.map(({ uid }) => ({ uid, deletion: "orphan", operationId: ids.next<never>() })),
      signal,
    );
    orphaned.add(overdue.length);
  };
}
