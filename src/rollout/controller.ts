import type { Change } from "../domain/change.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../runtime/keyed-queue.ts";
import { createResourceController, type ResourceController } from "../runtime/resource-controller/resource-controller.ts";
import { createSweeps } from "../runtime/resource-controller/sweeps.ts";
import type { Store } from "../store/port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type CarryOutDeps, createCarryOutRollout } from "./carry-out-rollout.ts";

export interface RolloutsDeps extends CarryOutDeps {
  readonly store: Pick<Store, "rollouts" | "fleet" | "directives" | "health" | "changes">;
  /** The key is `rollout`: one process works on the live rollout. */
  readonly partition: Partition;
  readonly rng: Rng;
  readonly metrics: Metrics;
}

export interface Rollouts extends ResourceController {
  /** Resolves when its queue is empty and nothing runs. */
  idle(): Promise<void>;
}

/** The only key, because only one rollout is live at a time. */
const KEY = "rollout";
/** How often the wave of a live rollout is observed, in ms: a crash is rolled back within seconds. */
const OBSERVE_EVERY_MS = 5_000;
const SWEEP_EVERY_MS = 60_000;

/** The controller of rollouts. It carries the live one on. */
export function createRollouts(deps: RolloutsDeps): Rollouts {
  const { store, observations, partition, rng, metrics } = deps;
  const carryOut = createCarryOutRollout(deps);
  const verdicts = metrics.counter("argosy_rollout_verdicts_total", "What rollouts came to, step by step.", ["verdict"]);

  async function work(_key: string, signal: AbortSignal): Promise<WorkResult> {
    if (!partition.isMine(KEY)) {
      await observations.rest();
      return {};
    }
    const outcome = await carryOut(signal);
    if (outcome?.verdict !== undefined) verdicts.add(1, { verdict: outcome.verdict });
    return outcome === undefined ? {} : { requeueAfterMs: OBSERVE_EVERY_MS };
  }
  const queue = createKeyedQueue({
    ...deps,
    name: KEY,
    concurrency: 1,
    rng: rng.fork(KEY),
    backoff: { minMs: 1_000, maxMs: OBSERVE_EVERY_MS },
    work,
  });
  const add = (): void => queue.add(KEY);
  const sweeps = createSweeps({
    ...deps,
    name: "rollout-upkeep",
    rng: rng.fork("rollout-resync"),
    first: [],
    next: ["rollout"],
    sweeps: { rollout: { everyMs: SWEEP_EVERY_MS, run: async () => add() } },
  });
  const onChanges = (changes: readonly Change[] | "missed"): void => {
    if (changes === "missed" || changes.some(({ kind }) => kind === "rollout")) add();
  };
  const controller = createResourceController({
    name: "rollouts",
    watches: [],
    otherWatches: [],
    partition,
    sweeps,
    loops: [queue],
    subscribe: () => [store.changes.subscribe(onChanges)],
    takeOver: add,
  });
  const stop = async (): Promise<void> => {
    await controller.stop();
    await observations.rest();
  };
  return { ...controller, stop, idle: queue.idle };
}
