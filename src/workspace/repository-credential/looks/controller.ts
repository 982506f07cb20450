import type { Clock, Millis } from "../../../domain/clock.ts";
import type { EgressSpec } from "../../../domain/fleet.ts";
import type { Rng } from "../../../domain/rng.ts";
import { createKeyedQueue, type WorkResult } from "../../../runtime/keyed-queue.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { parseKey } from "../../keys.ts";
import { isRevoking, LOOK_AGAIN_MS, nextLookAfterMs, type Outcome } from "../outcome.ts";
import type { LookTaken, Wanted } from "../plan-review.ts";
import type { RepositoryLooker } from "../port.ts";

/** Looks at repositories, apart from everything else: a host that does not answer delays nobody but who named it. */
export interface Looks {
  last(key: string): LookTaken | undefined;
  /** Sees to it that a look at just this is taken when the next one is due; returns in how many ms that is. */
  ask(key: string, wanted: Wanted, egress: EgressSpec): number;
  /** Takes it that a look at just this was taken by somebody else, at any moment of the time between two looks. */
  assume(key: string, stamp: string): void;
  forget(key: string): void;
  start(): void;
  stop(): Promise<void>;
}

export interface LooksDeps {
  readonly looker: RepositoryLooker;
  /** Child processes at once. */
  readonly looksAtOnce: number;
  /** A look was taken. */
  readonly onLook: (key: string) => void;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** One workspace has two at once, or half of a number that is smaller than four. */
const AT_ONCE_OF_WORKSPACE = 2;

interface Taken extends LookTaken {
  readonly at: Millis;
  /** Looks in a row that showed nothing about the credential. */
  readonly misses: number;
}

type Asked = Wanted & { readonly egress: EgressSpec };

export function createLooks(deps: LooksDeps): Looks {
  const { looker, clock, rng } = deps;
  const taken = new Map<string, Taken>();
  const waiting = new Map<string, Asked>();
  const looks = deps.metrics.counter("argosy_repository_looks_total", "Looks at users' repositories, by what they showed.", ["outcome"]);

  const note = (key: string, stamp: string, outcome: Outcome): void => {
    const isMiss = outcome !== "readable" && !isRevoking(outcome);
    taken.set(key, { stamp, outcome, at: clock.now(), misses: isMiss ? (taken.get(key)?.misses ?? 0) + 1 : 0 });
    looks.add(1, { outcome });
  };

  async function work(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const asked = waiting.get(key);
    if (asked === undefined) return;
    const { address, secret, egress, stamp } = asked;
    const outcome = await looker.look({ ...address, secret, egress }, signal);
    if (waiting.get(key) !== asked) return { requeueAfterMs: 0 };
    waiting.delete(key);
    note(key, stamp, outcome);
    deps.onLook(key);
  }

  const concurrency = deps.looksAtOnce;
  const atOncePerGroup = Math.max(1, Math.min(AT_ONCE_OF_WORKSPACE, Math.floor(concurrency / 2)));
  const queue = createKeyedQueue({ ...deps, name: "workspace-repository-looks", concurrency, atOncePerGroup, work });
  return {
    last: (key) => taken.get(key),
    ask(key, wanted, egress) {
      const last = taken.get(key);
      const dueInMs = last?.stamp === wanted.stamp ? last.at + nextLookAfterMs(last.misses) - clock.now() : 0;
      if (dueInMs > 0) return dueInMs;
      if (waiting.get(key)?.stamp !== wanted.stamp) waiting.set(key, { ...wanted, egress });
      queue.add(key, { group: parseKey(key).namespace });
      return LOOK_AGAIN_MS;
    },
    assume(key, stamp) {
      const at = (clock.now() - Math.floor(rng.next() * LOOK_AGAIN_MS)) as Millis;
      taken.set(key, { stamp, outcome: "readable", at, misses: 0 });
    },
    forget(key) {
      taken.delete(key);
      waiting.delete(key);
    },
    start: queue.start,
    stop: queue.stop,
  };
}
