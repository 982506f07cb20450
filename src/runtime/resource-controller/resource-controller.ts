import type { Partition, ShareChange } from "../../domain/partition.ts";
import type { Sweeps } from "./sweeps.ts";

/** A watch of one kind of object, which keeps what it has seen. */
export interface Watch {
  /** Begins to watch until the signal aborts. */
  start(signal: AbortSignal): void;
  /** Resolves when everything was listed once; rejects when the signal aborts before. */
  synced(signal: AbortSignal): Promise<void>;
  /** Resolves when the watch has ended. */
  stopped(): Promise<void>;
}

/** A queue, or what has one inside. */
export interface Loop {
  start(): void;
  stop(): Promise<void>;
}

export interface ResourceControllerOptions {
  /** For the reason that watches are ended with. */
  readonly name: string;
  /** Watches of this controller alone: it starts them, and stops them at the end. */
  readonly watches: readonly Watch[];
  /** Watches that somebody else starts and stops, and whose objects the loops read. */
  readonly otherWatches: readonly Pick<Watch, "synced">[];
  /** Subscribes to everything that may tell of a change; returns what ends each subscription. Listeners add keys and sweeps. */
  readonly subscribe: () => readonly (() => void)[];
  readonly partition: Pick<Partition, "onChange" | "join">;
  /** This process may have gained keys: asks for what finds those for which `gained` holds, and what became of them while they were another's. */
  readonly takeOver: (gained: ShareChange["gained"]) => void;
  readonly sweeps: Pick<Sweeps<never>, "start" | "stop">;
  /** Started, in this order, when the first sweeps have ended well. */
  readonly loops: readonly Loop[];
}

export interface ResourceController {
  /** Begins; ends with the signal or with `stop`. */
  start(signal: AbortSignal): void;
  /** Hears of nothing more, lets runs under way end, and then ends its watches. */
  stop(): Promise<void>;
}

/**
 * Creates the controller of one kind of resource. It subscribes first, so that nothing is missed; waits until all watches have listed
 * everything, as a sweep over half a list would call the other half gone; takes its share of the keys, on which others work until then;
 * then runs the first sweeps, and then the loops. Keys that are added before only gather.
 */
export function createResourceController(options: ResourceControllerOptions): ResourceController {
  const { name, watches, otherWatches, partition, sweeps, loops } = options;
  const abort = new AbortController();
  const subscriptions: (() => void)[] = [];
  const startLoops = (): void => loops.forEach((loop) => loop.start());
  return {
    start(signal) {
      const either = AbortSignal.any([signal, abort.signal]);
      subscriptions.push(
        ...options.subscribe(),
        partition.onChange(({ mayGain, gained }) => void (mayGain && options.takeOver(gained))),
      );
      for (const watch of watches) watch.start(either);
      Promise.all([...watches, ...otherWatches].map((watch) => watch.synced(either)))
        .then(() => partition.join?.())
        .then(
          () => {
            if (!either.aborted) sweeps.start(either, startLoops);
          },
          // Rejects only when the controller is stopped before everything was listed.
          () => {},
        );
    },
    async stop() {
      for (const end of subscriptions.splice(0)) end();
      await Promise.all([sweeps.stop(), ...loops.map((loop) => loop.stop())]);
      abort.abort(new Error(`the controller ${name} stops`));
      await Promise.all(watches.map((watch) => watch.stopped()));
    },
  };
}
