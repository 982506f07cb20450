import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../runtime/keyed-queue.ts";
import { every } from "../runtime/timer/every.ts";
import type { Store } from "../store/port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createLook, type LookDeps } from "./look/controller.ts";

export interface RolloutsDeps extends LookDeps {
  readonly store: Pick<Store, "rollouts" | "fleet" | "directives" | "health" | "changes">;
  /** By `rollout`: one process works on the one that is live. */
  readonly partition: Partition;
  readonly rng: Rng;
  readonly metrics: Metrics;
}

/** Carries the live rollout on. */
export interface Rollouts {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  idle(): Promise<void>;
}

const KEY = "rollout";
/** How often a live rollout's wave is looked at: a crash is rolled back within seconds. In ms. */
const LOOK_MS = 5_000;
const RESYNC_MS = 60_000;

export function createRollouts(deps: RolloutsDeps): Rollouts {
  const { store, partition, clock, rng, log } = deps;
  const ending = new AbortController();
  const look = createLook(deps);
  const verdicts = deps.metrics.counter("argosy_rollout_verdicts_total", "What rollouts came to, step by step.", ["verdict"]);
  const work = async (_key: string, signal: AbortSignal): Promise<WorkResult> => {
    const outcome = partition.isMine(KEY) ? await look(signal) : undefined;
    if (outcome?.verdict !== undefined) verdicts.add(1, { verdict: outcome.verdict });
    return outcome === undefined ? {} : { requeueAfterMs: LOOK_MS };
  };
  const queue = createKeyedQueue({
    ...{ ...deps, name: KEY, concurrency: 1, rng: rng.fork(KEY), backoff: { minMs: 1_000, maxMs: LOOK_MS }, work },
  });
  const soon = (): void => queue.add(KEY);
  return {
    start(signal) {
      signal.addEventListener("abort", () => void queue.stop(), { once: true });
      const unfollow = store.changes.subscribe((hints) => {
        if (hints === "missed" || hints.some(({ kind }) => kind === "rollout")) soon();
      });
      ending.signal.addEventListener("abort", unfollow, { once: true });
      every({ clock, rng: rng.fork("rollout-resync"), log, ms: RESYNC_MS, run: soon }, AbortSignal.any([signal, ending.signal]));
      queue.start();
      soon();
    },
    async stop() {
      ending.abort(new Error("rollouts stop"));
      await queue.stop();
    },
    idle: () => queue.idle(),
  };
}
