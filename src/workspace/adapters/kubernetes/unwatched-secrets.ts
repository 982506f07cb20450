import type { Clock } from "../../../domain/clock.ts";
import type { Rng } from "../../../domain/rng.ts";
import { createKeyedQueue } from "../../../runtime/keyed-queue.ts";
import { createTokenBucket } from "../../../runtime/kube/token-bucket.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import type { ResourceAt } from "../../port.ts";

/** Each name is asked for again this often, in ms: about as long as somebody who has just made a Secret waits before wondering. */
const EVERY_MS = 5_000;
/** Requests a second for all names together. With more than a hundred names each is asked for less often, namespaces in turns. */
const PER_SECOND = 20;

export interface UnwatchedSecretsDeps {
  /** Uid of the Secret there is now, "" for none. Its type never changes, so that another uid is all there is to find out. */
  readonly readUid: (at: ResourceAt, signal: AbortSignal) => Promise<string>;
  readonly isWatched: (at: ResourceAt) => boolean;
  readonly isNamed: (at: ResourceAt) => boolean;
  readonly onChange: (at: ResourceAt) => void;
  readonly everyMs?: number | undefined;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Asks again for Secrets that resources name and no watch tells of: missing ones, and those of a type nobody watches. */
export interface UnwatchedSecrets {
  /** What was read under a name, "" for nothing. From then on a change of it is reported, while it is named and no watch covers it. */
  note(at: ResourceAt, uid: string): void;
  start(signal: AbortSignal): void;
  stopped(): Promise<void>;
}

export function createUnwatchedSecrets(deps: UnwatchedSecretsDeps): UnwatchedSecrets {
  const { readUid, isWatched, isNamed, onChange, everyMs = EVERY_MS } = deps;
  const noted = new Map<string, { readonly at: ResourceAt; readonly uid: string }>();
  const turns = createTokenBucket(PER_SECOND, deps.clock);

  const queue = createKeyedQueue({
    ...deps,
    name: "workspace-unwatched-secrets",
    concurrency: 4,
    async work(key, signal) {
      const known = noted.get(key);
      if (known === undefined || isWatched(known.at) || !isNamed(known.at)) return void noted.delete(key);
      await turns.take(signal);
      const uid = await readUid(known.at, signal);
      noted.set(key, { at: known.at, uid });
      if (uid !== known.uid) onChange(known.at);
      return { requeueAfterMs: everyMs };
    },
  });

  return {
    note({ namespace, name }, uid) {
      const key = `${namespace}/${name}`;
      noted.set(key, { at: { namespace, name }, uid });
      queue.add(key, { group: namespace, afterMs: everyMs });
    },
    start(signal) {
      queue.start();
      signal.addEventListener("abort", () => void queue.stop(), { once: true });
    },
    stopped: queue.stop,
  };
}
