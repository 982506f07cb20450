import type { Clock, Millis } from "../../domain/clock.ts";
import type { EgressSpec } from "../../domain/fleet.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../../runtime/keyed-queue.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { parseKey } from "../keys.ts";
import { type CredentialOutcome, isRevoking, nextObservationAfterMs, OBSERVE_AGAIN_MS } from "./outcome.ts";
import type { ObservationTaken, WantedCredential } from "./plan-review.ts";
import type { RepositoryObserver } from "./port.ts";

/**
 * Probes the repositories that credentials name, in a queue of its own: a host that does not answer must not delay
 * other credentials.
 */
export interface RepositoryProbes {
  /** The last probe of this key, made or assumed; `undefined`: none. */
  last(key: string): ObservationTaken | undefined;
  /**
   * Requests a probe of this address and secret, unless the last probe of just these is recent enough. Returns when to
   * ask again, in ms. A probe that ends meanwhile is reported to the listeners.
   */
  ask(key: string, wanted: WantedProbe, egress: EgressSpec): number;
  /**
   * Records that another process has probed just this and that it was readable. The time of that probe is chosen at
   * random within the last period, so that a process that has just started does not probe all repositories at once.
   */
  assume(key: string, stamp: string): void;
  /** Drops the last probe and a waiting request of this key. */
  forget(key: string): void;
  /** Calls `listener` with the key after each probe. Returns what ends that. */
  subscribe(listener: (key: string) => void): () => void;
  start(): void;
  stop(): Promise<void>;
}

export interface ProbesDeps {
  readonly observer: RepositoryObserver;
  /** How many probes run at once. Each is a child process. */
  readonly observationsAtOnce: number;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** How many probes of one workspace run at once; where fewer than four run in all, it is half of them, and at least one. */
const AT_ONCE_OF_WORKSPACE = 2;

/** The last probe of a key. */
interface Taken extends ObservationTaken {
  readonly at: Millis;
  /** How many probes in a row showed nothing about the credential, because the host did not answer, for example. */
  readonly misses: number;
}

/** An address, what it is asked with, and a text that is equal for equal of both. */
export type WantedProbe = Pick<WantedCredential, "address" | "stamp"> & { readonly secret: WantedCredential["secret"] | undefined };
type Asked = WantedProbe & { readonly egress: EgressSpec };

/** Creates the probes of one controller. Key: `cluster|namespace|name` of the credential; namespaces take turns. */
export function createRepositoryProbes(deps: ProbesDeps): RepositoryProbes {
  const { observer, clock, rng } = deps;
  const taken = new Map<string, Taken>();
  const waiting = new Map<string, Asked>();
  const listeners = new Set<(key: string) => void>();
  const probes = deps.metrics.counter("argosy_repository_probes_total", "Probes of users' repositories, by what they showed.", ["outcome"]);

  const note = (key: string, stamp: string, outcome: CredentialOutcome): void => {
    const isMiss = outcome !== "readable" && !isRevoking(outcome);
    taken.set(key, { stamp, outcome, at: clock.now(), misses: isMiss ? (taken.get(key)?.misses ?? 0) + 1 : 0 });
    probes.add(1, { outcome });
  };

  async function work(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const asked = waiting.get(key);
    if (asked === undefined) return;
    const { address, secret, egress, stamp } = asked;
    const outcome = await observer.observe({ ...address, secret, egress }, signal);
    // The request has changed while the probe ran: what it showed is about another one.
    if (waiting.get(key) !== asked) return { requeueAfterMs: 0 };
    waiting.delete(key);
    note(key, stamp, outcome);
    for (const listener of listeners) listener(key);
  }

  const concurrency = deps.observationsAtOnce;
  const atOncePerGroup = Math.max(1, Math.min(AT_ONCE_OF_WORKSPACE, Math.floor(concurrency / 2)));
  const queue = createKeyedQueue({ ...deps, name: "workspace-repository-probes", concurrency, atOncePerGroup, work });
  return {
    last: (key) => taken.get(key),
    ask(key, wanted, egress) {
      const last = taken.get(key);
      const dueInMs = last?.stamp === wanted.stamp ? last.at + nextObservationAfterMs(last.misses) - clock.now() : 0;
      if (dueInMs > 0) return dueInMs;
      if (waiting.get(key)?.stamp !== wanted.stamp) waiting.set(key, { ...wanted, egress });
      queue.add(key, { group: parseKey(key).namespace });
      return OBSERVE_AGAIN_MS;
    },
    assume(key, stamp) {
      const at = (clock.now() - Math.floor(rng.next() * OBSERVE_AGAIN_MS)) as Millis;
      taken.set(key, { stamp, outcome: "readable", at, misses: 0 });
    },
    forget(key) {
      taken.delete(key);
      waiting.delete(key);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    start: queue.start,
    stop: queue.stop,
  };
}
