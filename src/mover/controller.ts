import type { Clock } from "../domain/clock.ts";
import type { MoveId } from "../domain/ids.ts";
import type { Move } from "../domain/move.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import type { Grounds } from "../reconciler/port.ts";
import { createKeyedQueue } from "../runtime/keyed-queue.ts";
import { every } from "../runtime/timer/every.ts";
import type { Destination, OwnNamespaces } from "../shard/seat.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { EnvironmentRegisters } from "../workspace/environment/port.ts";
import { createLook } from "./look/controller.ts";
import { createMoveMeter } from "./meter/controller.ts";
import { type Budgets, DEFAULT_BUDGETS, mostAtOnce } from "./next-starts.ts";
import type { nextStep } from "./next-step.ts";
import { createOutside } from "./outside/controller.ts";
import type { ManagedCluster, SightSource } from "./port.ts";
import { createProbe } from "./probe/controller.ts";
import { fenceTimeMs } from "./proof.ts";
import { createStarts } from "./starts/controller.ts";
import { createSteps } from "./steps/controller.ts";

export interface MoverDeps {
  readonly store: Pick<Store, "moves" | "shards" | "intents" | "changes">;
  readonly sights: SightSource;
  readonly managed: ManagedCluster;
  readonly grounds: Grounds;
  readonly registers: EnvironmentRegisters;
  /** By move. */
  readonly partition: Partition;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  /** Whether one API server only answers at the managed cluster's address. */
  readonly isSingleServer: boolean;
  /** How many may be under way at once; the defaults where it is not given. */
  readonly budgets?: Budgets;
  /** What steps are decided by; the simulation shows with broken ones that its checkers see it. Default: `nextStep`. */
  readonly decide?: typeof nextStep;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Hands units over from one instance to another, several at once. */
export interface Mover {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
}

/** A hint that got lost costs this much. */
const SWEEP_MS = 5_000;
/** How soon what a hint is about is looked at, in ms: a move that somebody works on tells of each of its phases, and looks again by itself. */
const HINT_MS = 100;
const STARTS = "starts";
const SWEEP = "sweep";

export function createMover(deps: MoverDeps): Mover {
  const { store, partition, clock, rng, log, budgets = DEFAULT_BUDGETS } = deps;
  const ending = new AbortController();
  const outside = createOutside(deps.registers);
  const probe = createProbe({ ...deps, outside, fenceMs: fenceTimeMs(deps.isSingleServer) });
  const meter = createMoveMeter(deps);
  const steps = createSteps({ ...deps, probe, outside, meter, look: createLook(deps) });
  const waiting = createStarts({ store, budgets, log });
  const ended: (() => void)[] = [];

  const begin = async (signal: AbortSignal): Promise<readonly Move[]> => {
    const live = (await waiting.begin(signal)).filter(({ id }) => partition.isMine(id));
    meter.live(live);
    return live;
  };
  /** What no hint told of. */
  const sweep = async (signal: AbortSignal): Promise<void> => {
    for (const { id, phase } of await begin(signal)) if (phase !== "WAITING") moves.add(id);
  };

  const moves = createKeyedQueue({
    ...{ ...deps, name: "moves", concurrency: mostAtOnce(budgets), rng: rng.fork("moves"), backoff: { minMs: 250, maxMs: 10_000 } },
    work: (id, signal) => steps.carryOn(id as MoveId, signal),
  });
  const starts = createKeyedQueue({
    ...deps,
    name: "move-starts",
    concurrency: 1,
    rng: rng.fork(STARTS),
    work: async (key, signal) => void (await (key === SWEEP ? sweep : begin)(signal)),
  });
  const sweepSoon = (): void => starts.add(SWEEP);

  const stop = async (): Promise<void> => {
    ending.abort(new Error("moves stop"));
    ended.splice(0).forEach((end) => end());
    await Promise.all([starts.stop(), moves.stop()]);
  };

  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      ended.push(
        store.changes.subscribe((hints) => {
          if (hints === "missed") return sweepSoon();
          const told = hints.filter(({ kind }) => kind === "move");
          if (told.length > 0) starts.add(STARTS, { afterMs: HINT_MS });
          for (const { id } of told) if (partition.isMine(id)) moves.add(id, { afterMs: HINT_MS });
        }),
        partition.onChange(sweepSoon),
      );
      every({ clock, rng, log, ms: SWEEP_MS, jitter: 0.1, run: sweepSoon }, ending.signal);
      starts.start();
      moves.start();
      sweepSoon();
    },
    stop,
  };
}
