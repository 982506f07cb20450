import type { Clock } from "../../domain/clock.ts";
import type { MemberId } from "../../domain/ids.ts";
import { ownerOf, type Partition } from "../../domain/partition.ts";
import { sleep } from "../../runtime/clock.ts";
import { limitTime } from "../../runtime/kube/time-limit.ts";
import type { Log } from "../../telemetry/log.ts";
import type { MemberStore } from "./port.ts";

export interface MembershipDeps {
  readonly store: MemberStore;
  readonly memberId: MemberId;
  /** What this process does; it gets a share of the keys of each. */
  readonly roles: readonly string[];
  /** After this long without a sign of life the others deal this member's keys among themselves, in ms. */
  readonly ttlMs: number;
  /** Time between two signs of life, in ms: at most half of `ttlMs`, so that one may fail. */
  readonly renewMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Membership {
  /** This process's share of the keys of a role. Nothing is its own before the first sign of life was answered. */
  partition(role: string): Partition;
  start(signal: AbortSignal): void;
  /** Takes leave, so that others take over at once, and waits until that is done. */
  stop(): Promise<void>;
}

type Live = ReadonlyMap<string, readonly MemberId[]>;

/**
 * Says that this process lives, and deals keys among those that do. While the database is away everybody keeps the share
 * known last, however long: a share only saves double work, and giving it up would stop work that needs no database.
 */
export function createMembership(deps: MembershipDeps): Membership {
  const { store, memberId, roles, ttlMs, renewMs, clock, log } = deps;
  const listeners = new Set<() => void>();
  const ending = new AbortController();
  let live: Live = new Map();
  let running: Promise<void> = Promise.resolve();

  const learn = (now: Live): void => {
    const isSame = fingerprint(now) === fingerprint(live);
    live = now;
    if (isSame) return;
    log.info({ members: Object.fromEntries(now) }, "Dealing the keys anew");
    for (const listener of listeners) listener();
  };

  const beat = async (signal: AbortSignal): Promise<void> => {
    const limit = limitTime({ clock, doing: "saying that we live", timeoutMs: ttlMs }, signal);
    try {
      learn(await store.heartbeat(memberId, roles, ttlMs, limit.signal));
    } catch (error) {
      if (!signal.aborted) log.warn({ error }, "Keeping the last known share, saying that we live failed");
    } finally {
      limit.release();
    }
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await beat(signal);
      await sleep(clock, renewMs, signal).catch(() => {});
    }
  };

  const stop = async (): Promise<void> => {
    ending.abort(new Error("the member leaves"));
    await running;
    const limit = limitTime({ clock, doing: "taking leave", timeoutMs: renewMs }, new AbortController().signal);
    await store
      .leave(memberId, limit.signal)
      .catch((error: unknown) => log.warn({ error }, "Leaving without a word, others take over later"));
    limit.release();
  };

  return {
    partition: (role) => ({
      isMine(key) {
        const members = live.get(role) ?? [];
        return members.length === 1 ? members[0] === memberId : ownerOf(key, members) === memberId;
      },
      onChange(listener) {
        const own = (): void => listener();
        listeners.add(own);
        return () => void listeners.delete(own);
      },
    }),
    start(signal) {
      running = run(AbortSignal.any([signal, ending.signal]));
    },
    stop,
  };
}

function fingerprint(live: Live): string {
  return JSON.stringify([...live].sort(([a], [b]) => (a < b ? -1 : 1)));
}
