import type { Clock } from "../../domain/clock.ts";
import type { MoveId } from "../../domain/ids.ts";
import type { Move } from "../../domain/move.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../../runtime/keyed-queue.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { WAKE_MS } from "../looks.ts";
import type { MoveMeter } from "../meter/controller.ts";
import { type Budgets, mostAtOnce } from "../next-starts.ts";
import { createStarts } from "../starts/controller.ts";
import type { Steps } from "../steps/controller.ts";

export interface TurnsDeps {
  readonly store: Pick<Store, "moves">;
  readonly steps: Steps;
  readonly meter: Pick<MoveMeter, "live">;
  readonly partition: Partition;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Whose turn it is: moves that wait are begun, and those of this process's that are under way carried on, several at once. */
export interface Turns {
  start(): void;
  /** Something has become of this move. */
  hint(id: string): void;
  /** What this move waits for has changed. */
  wake(id: MoveId): void;
  /** Looks at all of them: what no hint told of. */
  sweep(): void;
  stop(): Promise<void>;
}

/** How soon what a hint is about is looked at, in ms. A move that is carried on here tells of each of its own phases. */
const HINT_MS = 20;
const CARRIED_MS = 1_000;
const STARTS = "starts";
const SWEEP = "sweep";

export function createTurns(deps: TurnsDeps): Turns {
  const { store, steps, meter, partition, budgets, rng, log } = deps;
  const waiting = createStarts({ store, budgets, log, onBegun: (id) => (partition.isMine(id) ? moves.add(id) : undefined) });
  /** As they were when it was last looked for some to begin. */
  let live: ReadonlySet<string> = new Set();
  /** Of this process's those that it carries on, and those that it saw end of late: it knows what hints tell of them. */
  const carried = new Set<string>();
  const ended = new Set<string>();

  const begin = async (signal: AbortSignal): Promise<readonly Move[]> => {
    const all = await waiting.begin(signal);
    live = new Set(all.map(({ id }) => id));
    const mine = all.filter(({ id }) => partition.isMine(id));
    meter.live(mine);
    return mine;
  };
  const beginAndCarryOn = async (signal: AbortSignal): Promise<void> => {
    ended.clear();
    for (const { id, phase } of await begin(signal)) if (phase !== "WAITING") moves.add(id);
  };
  /** A move that is over makes room for one that waits; one that waits itself makes none. */
  const carryOn = async (id: MoveId, signal: AbortSignal): Promise<WorkResult> => {
    const onward = await steps.carryOn(id, signal);
    if (onward.requeueAfterMs === undefined) carried.delete(id);
    else carried.add(id);
    if (onward.isOver === true) {
      ended.add(id);
      starts.add(STARTS);
    }
    return onward;
  };

  const moves = createKeyedQueue({
    ...{ ...deps, name: "moves", concurrency: mostAtOnce(budgets), rng: rng.fork("moves"), backoff: { minMs: 250, maxMs: 10_000 } },
    work: (id, signal) => carryOn(id as MoveId, signal),
  });
  const starts = createKeyedQueue({
    ...deps,
    name: "move-starts",
    concurrency: 1,
    rng: rng.fork(STARTS),
    work: async (key, signal) => void (await (key === SWEEP ? beginAndCarryOn : begin)(signal)),
  });

  return {
    start() {
      starts.start();
      moves.start();
      starts.add(SWEEP);
    },
    /** One that nobody knew waits for its turn; one that goes on is looked at by whoever works on it, who sees it end as well. */
    hint(id) {
      if (ended.has(id)) return;
      if (!live.has(id)) starts.add(STARTS, { afterMs: HINT_MS });
      if (partition.isMine(id)) moves.add(id, { afterMs: carried.has(id) ? CARRIED_MS : HINT_MS });
    },
    wake: (id) => moves.add(id, { afterMs: WAKE_MS }),
    sweep: () => starts.add(SWEEP),
    stop: async () => void (await Promise.all([starts.stop(), moves.stop()])),
  };
}
