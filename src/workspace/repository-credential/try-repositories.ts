import type { Clock, Millis } from "../../domain/clock.ts";
import type { EgressSpec } from "../../domain/fleet.ts";
import { contentHash } from "../../domain/hash.ts";
import { writeRepositorySecret } from "../../domain/repository-credential.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../../runtime/keyed-queue.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { parseKey } from "../keys.ts";
import { createProbePace } from "./measure-pace.ts";
import { type CredentialOutcome, isRevoking, nextObservationAfterMs, OBSERVE_AGAIN_MS } from "./outcome.ts";
import type { ObservationTaken, WantedCredential } from "./plan-review.ts";
import type { RepositoryObserver } from "./port.ts";
import { createRepeats } from "./wait-for-turn.ts";

/**
 * Probes the repositories that credentials name, in a queue of its own: a host that does not answer must not delay
 * other credentials.
 */
export interface RepositoryProbes {
  /** The last probe of this key, made or assumed; `undefined`: none. */
  last(key: string): ObservationTaken | undefined;
  /**
   * Requests a probe of this address and secret, unless the last probe of just these is recent enough. Returns when to
   * ask again, in ms. A probe that ends meanwhile is reported to the listeners. A repeated one, whose answer is known and
   * only confirmed, waits in a line of its own behind all others.
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
  /** How many probes run at once. Some are child processes. */
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
  /** By which part of the usual time it is repeated sooner or later, so that what was probed together is not again; 0.9 to 1.1. */
  readonly spread: number;
  /** How many probes in a row showed nothing about the credential, because the host did not answer, for example. */
  readonly misses: number;
}

/** An address, what it is asked with, and a text that is equal for equal of both. */
export type WantedProbe = Pick<WantedCredential, "address" | "stamp"> & {
  readonly secret: WantedCredential["secret"] | undefined;
  /** Whether it confirms what is known. Absent: it does where the last probe of the key was of the same stamp. */
  readonly isRepeated?: boolean;
};
type Asked = WantedProbe & { readonly egress: EgressSpec; readonly isRepeated: boolean; readonly askedAtMs: number };

/** What a probe of an address with a secret has shown to a workspace. */
interface Shown {
  readonly outcome: CredentialOutcome;
  readonly startedAt: Millis;
  readonly startedAtMs: number;
}

/**
 * Creates the probes of one controller. Key: `cluster|namespace|name` of the credential; namespaces take turns. A workspace's rows of the same URL and
 * secret share what one probe has shown. Those of other workspaces never do, whatever they know.
 */
export function createRepositoryProbes(deps: ProbesDeps): RepositoryProbes {
  const { observer, clock, rng } = deps;
  const taken = new Map<string, Taken>();
  const waiting = new Map<string, Asked>();
  const listeners = new Set<(key: string) => void>();
  const shared = new Map<string, Shown>();
  const pace = createProbePace({ ...deps, known: () => taken.size });
  const probes = deps.metrics.counter("argosy_repository_probes_total", "Probes of users' repositories, by what they showed.", ["outcome"]);

  const note = (key: string, stamp: string, { outcome, startedAt }: Shown): void => {
    const isMiss = outcome !== "readable" && !isRevoking(outcome);
    const misses = isMiss ? (taken.get(key)?.misses ?? 0) + 1 : 0;
    taken.set(key, { stamp, outcome, at: isMiss ? clock.now() : startedAt, spread: spreadOf(rng.next()), misses });
  };

  /** What another row of the workspace was shown, if that answers this request: later than it was made, or lately and not against it. */
  const known = (place: string, { isRepeated, askedAtMs }: Asked): Shown | undefined => {
    const shown = shared.get(place);
    if (shown === undefined || shown.startedAtMs >= askedAtMs) return shown;
    const isRecent = clock.monotonicMs() - shown.startedAtMs < pace.periodMs() / 2;
    return isRepeated && shown.outcome === "readable" && isRecent ? shown : undefined;
  };

  const observe = async (key: string, asked: Asked, signal: AbortSignal): Promise<Shown> => {
    const { address, secret, egress } = asked;
    const place = contentHash([parseKey(key).namespace, address.url, secret === undefined ? "" : writeRepositorySecret(secret)]);
    const shownBefore = known(place, asked);
    if (shownBefore !== undefined) return shownBefore;
    const [startedAt, startedAtMs] = [clock.now(), clock.monotonicMs()];
    const outcome = await observer.observe({ ...address, secret, egress }, signal);
    pace.took(clock.monotonicMs() - startedAtMs);
    probes.add(1, { outcome });
    const shown = { outcome, startedAt, startedAtMs };
    // Oldest first: what is too old to answer anything is dropped.
    shared.delete(place);
    shared.set(place, shown);
    for (const [each, old] of shared) {
      if (clock.monotonicMs() - old.startedAtMs < pace.periodMs()) break;
      shared.delete(each);
    }
    return shown;
  };

  async function work(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const asked = waiting.get(key);
    if (asked === undefined) return repeats.ended(key);
    try {
      const shown = await observe(key, asked, signal);
      // The request has changed while the probe ran: what it showed is about another one.
      if (waiting.get(key) !== asked) return { requeueAfterMs: 0 };
      waiting.delete(key);
      note(key, asked.stamp, shown);
    } finally {
      repeats.ended(key);
    }
    for (const listener of listeners) listener(key);
  }

  const concurrency = deps.observationsAtOnce;
  const atOncePerGroup = Math.max(1, Math.min(AT_ONCE_OF_WORKSPACE, Math.floor(concurrency / 2)));
  const queue = createKeyedQueue({ ...deps, name: "workspace-repository-probes", concurrency, atOncePerGroup, work });
  const add = (key: string): void => queue.add(key, { group: parseKey(key).namespace });
  const repeats = createRepeats({ clock, most: repeatsAtOnce(concurrency), begin: add });
  deps.metrics
    .gauge("argosy_repository_probe_lag_seconds", "How long the first repeated probe that is due has waited for its turn.")
    .collect(() => [{ value: repeats.oldestAgeMs() / 1_000 }]);
  return {
    last: (key) => taken.get(key),
    ask(key, wanted, egress) {
      const last = taken.get(key);
      const isRepeated = wanted.isRepeated ?? last?.stamp === wanted.stamp;
      const dueInMs =
        last?.stamp === wanted.stamp ? last.at + nextObservationAfterMs(last.misses, pace.periodMs() * last.spread) - clock.now() : 0;
      if (dueInMs > 0) return dueInMs;
      const before = waiting.get(key);
      if (before?.stamp !== wanted.stamp) waiting.set(key, { ...wanted, egress, isRepeated, askedAtMs: clock.monotonicMs() });
      if (waiting.get(key)?.isRepeated === true) repeats.add(key);
      else add(key);
      return OBSERVE_AGAIN_MS;
    },
    assume(key, stamp) {
      const at = (clock.now() - Math.floor(rng.next() * pace.periodMs())) as Millis;
      taken.set(key, { stamp, outcome: "readable", at, spread: spreadOf(rng.next()), misses: 0 });
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

/** How much later or sooner than usual a probe is repeated: a tenth. */
function spreadOf(draw: number): number {
  return 0.9 + 0.2 * draw;
}

/** How many repeated probes run or are next at the same time: one less than run in all, so that a new one never waits for them. */
function repeatsAtOnce(concurrency: number): number {
  return Math.max(1, concurrency - 1);
}
