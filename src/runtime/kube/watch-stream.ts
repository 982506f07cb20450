import type { Clock } from "../../domain/clock.ts";
import { UnavailableError } from "../../domain/errors.ts";
import type { KubeClient, KubeQuery } from "./client.ts";
import { linkSignal } from "./signals.ts";
import type { StreamEvent } from "./watch-event.ts";
import { parseWatchLine } from "./watch-event.ts";

export interface WatchStreamOptions {
  readonly client: KubeClient;
  readonly path: string;
  readonly query: KubeQuery;
  readonly clock: Clock;
  /** How long a stream may say nothing before it is taken for dead, in ms. */
  readonly idleMs: number;
  readonly onEvent: (event: StreamEvent) => void;
}

/**
 * Reads one watch until the server ends it, and then resolves. Throws the error the server sent in the stream or what became of the
 * connection; `UnavailableError` (`kube.watch-silent`) when nothing came for `idleMs`: API servers send a bookmark
 * every minute, so such a connection is dead although nobody said so. Throws the signal's reason when aborted.
 */
export async function readWatchStream(options: WatchStreamOptions, signal: AbortSignal): Promise<void> {
  const { client, path, query, onEvent } = options;
  const linked = linkSignal(signal);
  const watchdog = startWatchdog(options, () => {
    linked.abort(
      new UnavailableError("Waiting for a watch to say something", {
        code: "kube.watch-silent",
        context: { cluster: client.cluster, path, idleMs: options.idleMs },
      }),
    );
  });
  try {
    for await (const line of client.watchLines(path, query, linked.signal)) {
      watchdog.feed();
      const event = parseWatchLine(line);
      if (event.kind === "error") throw event.error;
      onEvent(event);
    }
    // A client may end the iteration instead of throwing when it is aborted.
    linked.signal.throwIfAborted();
  } finally {
    watchdog.stop();
    linked.release();
  }
}

/** One timer however many lines come: it looks when the last one was and comes back when the rest of the time is up. */
function startWatchdog({ clock, idleMs }: WatchStreamOptions, onSilence: () => void) {
  let fedAt = clock.monotonicMs();
  let cancel = clock.after(idleMs, observe);
  function observe(): void {
    const leftMs = fedAt + idleMs - clock.monotonicMs();
    if (leftMs <= 0) onSilence();
    else cancel = clock.after(leftMs, observe);
  }
  return {
    feed() {
      fedAt = clock.monotonicMs();
    },
    stop: () => cancel(),
  };
}
