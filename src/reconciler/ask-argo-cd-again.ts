import type { Clock } from "../domain/clock.ts";
import { GoneError, StaleError, UnavailableError } from "../domain/errors.ts";
import type { Partition } from "../domain/partition.ts";
import type { WorkResult } from "../runtime/keyed-queue.ts";
import { type AwaitedRefresh, isLeftByOutage, isOverlooked, nextNudges, OUTAGES_AT_ONCE, planNudge, type Waiting } from "../shard/nudge.ts";
import { holderOf, type ObservedApplication } from "../shard/parse-application.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { statusKey } from "./keys.ts";
import type { EngineShard } from "./port.ts";

export interface AskAgainDeps {
  /** The content of instances of ours, by `placeKey`. */
  readonly watched: ReadonlyMap<string, EngineShard>;
  readonly partition: Partition;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** How often what Argo CD was asked for is compared with what it has done, in ms. */
export const COMPARE_EVERY_MS = 3_000;

/** An outage is waited for less and less often however often Argo CD has compared meanwhile and said the same. */
const UNCHANGED: AwaitedRefresh = { resourceVersion: "", annotations: {} };

interface Found {
  readonly engine: EngineShard;
  readonly seen: ObservedApplication;
}

/**
 * Returns what finds the Applications that Argo CD was asked to compare, to sync, or to end, and overlooked, and asks it again. Each pass judges those that it has
 * yet to answer, and no others: where nothing is left to answer, a pass costs nothing.
 */
export function createAskArgoCdAgain({ watched, partition, clock, log, metrics }: AskAgainDeps) {
  const nudges = metrics.counter(
    "argosy_reconciler_nudges_total",
    "Applications that Argo CD was asked again to refresh, to sync, or to end.",
    ["cluster"],
  );
  let waiting: ReadonlyMap<string, Waiting> = new Map();
  let waitingForParts: ReadonlyMap<string, Waiting> = new Map();

  const isOurs = (seen: ObservedApplication): boolean => {
    const holder = holderOf(seen);
    return holder !== undefined && partition.isMine(holder);
  };

  const askAgain = async ({ engine, seen }: Found, signal: AbortSignal): Promise<void> => {
    try {
      await engine.applications.patch(seen.at, planNudge(seen), signal);
      nudges.add(1, { cluster: engine.cluster });
      log.info({ cluster: engine.cluster, at: seen.at }, "Asking Argo CD again to refresh an Application, to sync it, or to end it");
    } catch (error) {
      // Whatever has changed meanwhile is as good as being asked again, and a cluster that does not answer is asked next time.
      const isExpected = error instanceof StaleError || error instanceof GoneError || error instanceof UnavailableError;
      if (!isExpected && !signal.aborted) log.warn({ cluster: engine.cluster, at: seen.at, err: error }, "Failing to ask Argo CD again");
    }
  };

  return async (signal: AbortSignal): Promise<WorkResult> => {
    const found = new Map(
      [...watched.values()].flatMap((engine) =>
        engine
          .listUnanswered()
          .filter(isOurs)
          .map((seen): [string, Found] => [statusKey(engine.cluster, seen.at), { engine, seen }]),
      ),
    );
    const those = (isSuch: (seen: ObservedApplication) => boolean) => [...found].filter(([, { seen }]) => isSuch(seen));
    const overlooked = new Map(those(isOverlooked).map(([key, { seen }]) => [key, seen]));
    const left = new Map(those(isLeftByOutage).map(([key]) => [key, UNCHANGED]));
    const nowMs = clock.monotonicMs();
    const next = nextNudges(waiting, overlooked, nowMs);
    const nextLeft = nextNudges(waitingForParts, left, nowMs, OUTAGES_AT_ONCE);
    waiting = next.waiting;
    waitingForParts = nextLeft.waiting;
    const due = [...new Set([...next.due, ...nextLeft.due])].flatMap((key) => found.get(key) ?? []);
    await Promise.all(due.map((each) => askAgain(each, signal)));
    return { requeueAfterMs: COMPARE_EVERY_MS };
  };
}
