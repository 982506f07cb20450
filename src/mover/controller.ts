import type { Clock } from "../domain/clock.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import type { Grounds } from "../reconciler/port.ts";
import { every } from "../runtime/timer/every.ts";
import type { Destination, OwnNamespaces } from "../shard/seat.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { EnvironmentRegisters } from "../workspace/environment/port.ts";
import { createLook } from "./look/controller.ts";
import { createMoveMeter } from "./meter/controller.ts";
import { createNews } from "./news/controller.ts";
import { type Budgets, DEFAULT_BUDGETS } from "./next-starts.ts";
import type { nextStep } from "./next-step.ts";
import { createOutside } from "./outside/controller.ts";
import type { ApplicationWatch, ManagedCluster, SightSource } from "./port.ts";
import { createProbe } from "./probe/controller.ts";
import { fenceTimeMs } from "./proof.ts";
import { createSteps } from "./steps/controller.ts";
import { createTurns } from "./turns/controller.ts";
import { createWaits } from "./waits/controller.ts";

export interface MoverDeps {
  readonly store: Pick<Store, "moves" | "shards" | "intents" | "changes">;
  readonly sights: SightSource;
  readonly watch: ApplicationWatch;
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

export function createMover(deps: MoverDeps): Mover {
  const { store, partition, clock, rng, log, budgets = DEFAULT_BUDGETS } = deps;
  const ending = new AbortController();
  const outside = createOutside(deps.registers);
  const probe = createProbe({ ...deps, outside, fenceMs: fenceTimeMs(deps.isSingleServer) });
  const meter = createMoveMeter(deps);
  const news = createNews({ wake: (id) => turns.wake(id) });
  const steps = createSteps({ ...deps, probe, outside, meter, waits: createWaits({ ...deps, news }), look: createLook(deps) });
  const turns = createTurns({ ...deps, budgets, steps, meter });
  const ended: (() => void)[] = [];

  const stop = async (): Promise<void> => {
    ending.abort(new Error("moves stop"));
    ended.splice(0).forEach((end) => end());
    await turns.stop();
  };

  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      ended.push(
        store.changes.subscribe((hints) => {
          if (hints === "missed") return turns.sweep();
          for (const { kind, id } of hints) if (kind === "move") turns.hint(id);
        }),
        partition.onChange(turns.sweep),
        deps.watch.onApplication(news.heard),
      );
      every({ clock, rng, log, ms: SWEEP_MS, jitter: 0.1, run: turns.sweep }, ending.signal);
      turns.start();
    },
    stop,
  };
}
