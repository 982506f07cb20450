import type { Clock } from "../../domain/clock.ts";
import { GoneError, StaleError, UnavailableError } from "../../domain/errors.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../../runtime/keyed-queue.ts";
import { isAwaited, isBlindAtBirth, isUnseenSync, nextNudges, planNudge, type Waiting } from "../../shard/nudge.ts";
import { holderOf, type ObservedApplication } from "../../shard/parse-application.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { EngineShard } from "../port.ts";
import { statusKey } from "../status/controller.ts";

/** Draws the controllers' attention to Applications that they were asked to look at, or to end, and did not. */
export interface Nudges {
  start(): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

export interface NudgesDeps {
  /** Engine clusters that are being watched, by name. */
  readonly watched: ReadonlyMap<string, EngineShard>;
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

const LOOK_EVERY_MS = 3_000;
const LOOK_KEY = "look";

interface Found {
  readonly engine: EngineShard;
  readonly seen: ObservedApplication;
}

export function createNudges(deps: NudgesDeps): Nudges {
  const { watched, partition, clock, log, metrics } = deps;
  const nudges = metrics.counter(
    "argosy_reconciler_nudges_total",
    "Applications that Argo CD was reminded of: to look at them, or to end them.",
    ["cluster"],
  );
  let waiting: ReadonlyMap<string, Waiting> = new Map();

  const isOurs = (seen: ObservedApplication): boolean => {
    const holder = holderOf(seen);
    return holder !== undefined && partition.isMine(holder);
  };

  const nudge = async ({ engine, seen }: Found, signal: AbortSignal): Promise<void> => {
    try {
      await engine.applications.patch(seen.at, planNudge(seen), signal);
      nudges.add(1, { cluster: engine.cluster });
      log.info({ cluster: engine.cluster, at: seen.at }, "Reminding Argo CD of an Application that it was asked to look at, or to end");
    } catch (error) {
      // Whatever has changed meanwhile is as good as a nudge, and who cannot be reached is asked again.
      const isExpected = error instanceof StaleError || error instanceof GoneError || error instanceof UnavailableError;
      if (!isExpected && !signal.aborted) log.warn({ cluster: engine.cluster, at: seen.at, err: error }, "Failing to remind Argo CD");
    }
  };

  const look = async (_key: string, signal: AbortSignal): Promise<WorkResult> => {
    const found = new Map(
      [...watched.values()].flatMap((engine) =>
        engine.applications
          .list()
          .filter((seen) => (isAwaited(seen) || isBlindAtBirth(seen) || isUnseenSync(seen)) && isOurs(seen))
          .map((seen): [string, Found] => [statusKey(engine.cluster, seen.at), { engine, seen }]),
      ),
    );
    const awaited = new Map([...found].map(([key, { seen }]) => [key, seen]));
    const next = nextNudges(waiting, awaited, clock.monotonicMs());
    waiting = next.waiting;
    const due = next.due.flatMap((key) => found.get(key) ?? []);
    await Promise.all(due.map((each) => nudge(each, signal)));
    return { requeueAfterMs: LOOK_EVERY_MS };
  };

  const queue = createKeyedQueue({ ...deps, name: "nudges", concurrency: 1, rng: deps.rng.fork("nudges"), work: look });
  return {
    start() {
      queue.add(LOOK_KEY, { afterMs: LOOK_EVERY_MS });
      queue.start();
    },
    stop: queue.stop,
  };
}
