import type { Clock } from "../domain/clock.ts";
import type { MoveId, UnitId } from "../domain/ids.ts";
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
import { type Budgets, DEFAULT_BUDGETS, mostAtOnce, nextStarts } from "./next-starts.ts";
import type { nextStep } from "./next-step.ts";
import { createOutside } from "./outside/controller.ts";
import type { ManagedCluster, SightSource } from "./port.ts";
import { createProbe } from "./probe/controller.ts";
import { fenceTimeMs } from "./proof.ts";
import { createSteps } from "./steps/controller.ts";

export interface MoverDeps {
  readonly store: Pick<Store, "moves" | "shards" | "fleet" | "intents" | "changes">;
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

const LIVE_LIMIT = 10_000;
/** A hint that got lost costs this much. */
const SWEEP_MS = 5_000;
const STARTS = "starts";
const NO_CLUSTERS: ReadonlyMap<UnitId, readonly string[]> = new Map();
const unitsOf = (moves: readonly Move[]): readonly UnitId[] => moves.map(({ unitId }) => unitId).sort();

export function createMover(deps: MoverDeps): Mover {
  const { store, partition, clock, rng, log, budgets = DEFAULT_BUDGETS } = deps;
  const ending = new AbortController();
  const outside = createOutside(deps.registers);
  const probe = createProbe({ ...deps, outside, fenceMs: fenceTimeMs(deps.isSingleServer) });
  const meter = createMoveMeter(deps);
  const steps = createSteps({ ...deps, probe, outside, meter, look: createLook(deps) });
  const ended: (() => void)[] = [];

  /** Whoever looks may begin one: several that look at once begin each once, and a few too many at worst. */
  const begin = async (signal: AbortSignal): Promise<void> => {
    const live = await store.moves.list({ isLive: true }, LIVE_LIMIT, signal);
    const isWaited = live.some(({ phase }) => phase === "WAITING");
    const clusters = isWaited ? await store.moves.listClusters(unitsOf(live), signal) : NO_CLUSTERS;
    for (const { id } of nextStarts(live, { budgets, clusters })) {
      const outcome = await store.moves.begin(id, signal);
      log.info({ move: id, outcome }, "Beginning a move whose turn it is");
    }
    meter.live(live.filter(({ id }) => partition.isMine(id)));
    for (const { id, phase } of live) if (phase !== "WAITING" && partition.isMine(id)) moves.add(id);
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
    work: (_key, signal) => begin(signal),
  });
  const beginSoon = (): void => starts.add(STARTS);

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
          if (hints !== "missed" && !hints.some(({ kind }) => kind === "move")) return;
          beginSoon();
          if (hints === "missed") return;
          for (const { kind, id } of hints) if (kind === "move" && partition.isMine(id)) moves.add(id);
        }),
        partition.onChange(beginSoon),
      );
      every({ clock, rng, log, ms: SWEEP_MS, jitter: 0.1, run: beginSoon }, ending.signal);
      starts.start();
      moves.start();
      beginSoon();
    },
    stop,
  };
}
