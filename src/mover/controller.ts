import type { Clock } from "../domain/clock.ts";
import type { MoveId, UnitId } from "../domain/ids.ts";
import type { Move } from "../domain/move.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import type { UnitPrerequisites } from "../reconciler/port.ts";
import { createKeyedQueue } from "../runtime/keyed-queue.ts";
import { every } from "../runtime/timer/every.ts";
import type { Destination, OwnNamespaces } from "../shard/application-placement.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { EnvironmentOwnerBindings } from "../workspace/environment/port.ts";
import { type Carried, createMoveWorker } from "./carry-out-move.ts";
import { createMoveMeter } from "./measure-moves.ts";
import { WAKE_MS } from "./next-observation.ts";
import { DEFAULT_BUDGETS, mostAtOnce, nextStarts, type StartBudgets } from "./next-starts.ts";
import type { nextMoveStep } from "./next-step.ts";
import type { ApplicationWatch, ManagedCluster, ObservationSource } from "./port.ts";
import { fenceTimeMs } from "./proof.ts";
import { createUnseenChanges } from "./unseen-changes.ts";

export interface MoverDeps {
  readonly store: Pick<Store, "moves" | "shards" | "intents" | "changes">;
  readonly observations: ObservationSource;
  readonly watch: ApplicationWatch;
  readonly managed: ManagedCluster;
  readonly unitPrerequisites: UnitPrerequisites;
  readonly ownerBindings: EnvironmentOwnerBindings;
  /** By move. */
  readonly partition: Partition;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  /** Whether one API server only answers at the managed cluster's address. */
  readonly isSingleServer: boolean;
  /** How many may be under way at once; the defaults where it is not given. */
  readonly budgets?: StartBudgets;
  /** What steps are decided by; the simulation shows with broken ones that its checkers see it. Default: `nextStep`. */
  readonly decide?: typeof nextMoveStep;
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

/** A notification that got lost costs this much. */
const SWEEP_MS = 5_000;
/** How soon after a notification its move is worked on, in ms. A move that is carried out here notifies of each of its own phases. */
const NOTIFIED_MS = 20;
const OWN_MS = 1_000;
/** Keys of the queue that begins moves. A sweep also goes on with all moves of this process that are under way. */
const STARTS = "starts";
const SWEEP = "sweep";

const NO_CLUSTERS: ReadonlyMap<UnitId, readonly string[]> = new Map();

/**
 * Two queues feed each other. In `starts` moves that wait are begun; what was begun goes to `moves`. There each move of this process is carried
 * out under its own key; when one ends, one that waits can begin.
 */
export function createMover(deps: MoverDeps): Mover {
  const { store, partition, clock, rng, log, budgets = DEFAULT_BUDGETS } = deps;
  const meter = createMoveMeter(deps);
  const unseen = createUnseenChanges();
  const worker = createMoveWorker({ ...deps, unseen, meter, fenceMs: fenceTimeMs(deps.isSingleServer) });
  /** All live moves, as they were at the last search for moves to begin. */
  let live: ReadonlySet<string> = new Set();
  /** Of this process's moves those that it is carrying out, and those that it saw end since the last sweep. */
  const carried = new Set<string>();
  const ended = new Set<string>();

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

  async function carryOn(id: MoveId, signal: AbortSignal): Promise<Carried> {
    const onward = await worker.carryOn(id, signal);
    if (onward.requeueAfterMs === undefined) carried.delete(id);
    else carried.add(id);
    if (onward.isOver === true) {
      ended.add(id);
      starts.add(STARTS);
    }
    return onward;
  }

  /**
   * Begins the moves whose turn it is. Any process may begin any move: several that try at once begin each move once, and together a few too
   * many at worst. Returns the moves of this process that were live before.
   */
  async function begin(signal: AbortSignal): Promise<readonly Move[]> {
    const all = await store.moves.listLive({}, signal);
    for (const { id } of await next(all, signal)) {
      const outcome = await store.moves.begin(id, signal);
      log.info({ move: id, outcome }, "Beginning a move whose turn it is");
      if (outcome === "begun" && partition.isMine(id)) moves.add(id);
    }
    live = new Set(all.map(({ id }) => id));
    const mine = all.filter(({ id }) => partition.isMine(id));
    meter.live(mine);
    return mine;
  }

  /** The clusters that units deploy to matter only for whether moves may begin, so they are not read where none would begin anyway. */
  async function next(all: readonly Move[], signal: AbortSignal): Promise<readonly Move[]> {
    if (nextStarts(all, { budgets, clusters: NO_CLUSTERS }).length === 0) return [];
    const clusters = await store.moves.listClusters(all.map(({ unitId }) => unitId).sort(), signal);
    return nextStarts(all, { budgets, clusters });
  }

  async function beginAndCarryOn(signal: AbortSignal): Promise<void> {
    ended.clear();
    for (const { id, phase } of await begin(signal)) if (phase !== "WAITING") moves.add(id);
  }

  /** A move that is not known waits for its turn. One that is live is worked on by its process, which notices itself when it has ended. */
  const onChange = (id: string): void => {
    if (ended.has(id)) return;
    if (!live.has(id)) starts.add(STARTS, { afterMs: NOTIFIED_MS });
    if (partition.isMine(id)) moves.add(id, { afterMs: carried.has(id) ? OWN_MS : NOTIFIED_MS });
  };
  const sweep = (): void => starts.add(SWEEP);

  const ending = new AbortController();
  const unsubscribe: (() => void)[] = [];
  const stop = async (): Promise<void> => {
    ending.abort(new Error("moves stop"));
    unsubscribe.splice(0).forEach((end) => end());
    await Promise.all([starts.stop(), moves.stop()]);
  };

  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      unsubscribe.push(
        store.changes.subscribe((notifications) => {
          if (notifications === "missed") return sweep();
          for (const { kind, id } of notifications) if (kind === "move") onChange(id);
        }),
        partition.onChange(({ mayGain }) => void (mayGain && sweep())),
        deps.watch.onApplication((change) => {
          const woken = unseen.report(change);
          if (woken !== undefined) moves.add(woken, { afterMs: WAKE_MS });
        }),
      );
      every({ clock, rng, log, ms: SWEEP_MS, jitter: 0.1, run: sweep }, ending.signal);
      starts.start();
      moves.start();
      sweep();
    },
    stop,
  };
}
