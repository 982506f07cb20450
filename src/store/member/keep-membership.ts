import type { Clock } from "../../domain/clock.ts";
import type { MemberId } from "../../domain/ids.ts";
import { ownerOf, type Partition, type Prospect, type ShareChange, shareChange } from "../../domain/partition.ts";
import { sleep } from "../../runtime/clock.ts";
import { linkSignal } from "../../runtime/kube/signals.ts";
import { limitTime } from "../../runtime/kube/time-limit.ts";
import type { Log } from "../../telemetry/log.ts";
import type { ChangeFeed } from "../port.ts";
import type { MemberStore } from "./port.ts";
import { createHandOver, havingOf, type Live, leavingOf } from "./wait-for-successors.ts";

export interface MembershipDeps {
  readonly store: MemberStore;
  /** Notifies of members that come, change their roles or leave, so that nobody waits for the next sign of life to learn it. */
  readonly changes: Pick<ChangeFeed, "subscribe">;
  readonly memberId: MemberId;
  /** What this process does from the start; it gets a share of the keys of each. */
  readonly roles: readonly string[];
  /** Roles that it joins later, and of which it lists its share before. Where nobody has one of them, the others that come to it leave it that share. */
  readonly comingRoles?: readonly string[];
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
  /**
   * Takes on a further role, and with it a share of its keys. Until then others work on them. Resolves when the share is known, or when
   * this process leaves.
   */
  join(role: string): Promise<void>;
  /** Resolves when it is known who lives, or when this process leaves. */
  prospect(role: string): Promise<Prospect>;
  /**
   * Says that this process is about to leave, and goes on working. Resolves when each of the others that have the role is prepared for what it gains, at once where
   * nobody has it or the database cannot be asked, and when the signal aborts.
   */
  handOver(role: string, signal: AbortSignal): Promise<void>;
  /** Calls `prepare` when others that have the role are about to leave. This process says that it is prepared once that has resolved. */
  onLeaving(role: string, prepare: (prospect: Prospect) => Promise<void>): void;
  /** Takes leave, so that others take over at once, and waits until that is done. Again: waits for the first time. */
  stop(): Promise<void>;
}

/**
 * What a process says in place of a role that nobody has and that it will join. Those that have joined leave it its share of the keys, so that processes which start
 * together do not each list everything. Where somebody has the role it is not said: the keys would be left alone until the process is ready.
 */
const coming = (role: string): string => `coming:${role}`;
/** What is said of no role of one's own. Roles have no colon. */
const isNotice = (role: string): boolean => role.includes(":");

/** Among whom a role's keys are dealt: those that have it, and those that come to a role which nobody had when they started. Sorted. */
function dealtAmong(live: Live, role: string): readonly MemberId[] {
  const [having, expected] = [havingOf(live, role), live.get(coming(role)) ?? []];
  return expected.length === 0 ? having : [...new Set([...having, ...expected])].toSorted();
}

/**
 * Says that this process lives, and deals keys among those that do. While the database is away everybody keeps the share
 * known last, however long: a share only saves double work, and giving it up would stop work that needs no database.
 */
export function createMembership(deps: MembershipDeps): Membership {
  const { store, changes, memberId, ttlMs, renewMs, clock, log, comingRoles = [] } = deps;
  const listeners = new Map<string, Set<(change: ShareChange) => void>>();
  const ending = new AbortController();
  const roles = new Set(deps.roles);
  /** Called when this process knows its share of that role, or leaves. */
  const joining = new Map<string, (() => void)[]>();
  const known = Promise.withResolvers<void>();
  let live: Live = new Map();
  let running: Promise<void> = Promise.resolve();
  /** When the last sign of life that was answered was given, on the monotonic clock. */
  let livedAtMs = Number.NEGATIVE_INFINITY;
  /** Ends the pause before the next sign of life. */
  let giveNow = (): void => {};
  let left: Promise<void> | undefined;

  /**
   * Tells each role's listeners what its share has become, if its members have changed. `hasLapsed`: for so long that the others counted this process
   * as gone. Its keys may have been theirs, so that it gains all of them anew, whoever lives.
   */
  const learn = (now: Live, hasLapsed: boolean): void => {
    const before = live;
    live = now;
    // Whoever has not joined yet has no share, though the others leave it one.
    const membersOf = (of: Live, role: string): readonly MemberId[] =>
      dealtAmong(of, role).filter((id) => id !== memberId || hasRole(of, role));
    const isSame = (role: string): boolean => membersOf(before, role).join() === membersOf(now, role).join();
    const all = [...new Set([...before.keys(), ...now.keys()])].filter((role) => !isNotice(role));
    const changed = all.filter((role) => hasLapsed || !isSame(role));
    if (changed.length === 0) return;
    log.info({ roles: changed, members: Object.fromEntries(now) }, "Dealing the keys anew");
    for (const role of changed) {
      const change = shareChange(memberId, { before: hasLapsed ? [] : membersOf(before, role), now: membersOf(now, role) });
      for (const listener of listeners.get(role) ?? []) listener(change);
    }
  };

  const hasRole = (of: Live, role: string): boolean => havingOf(of, role).includes(memberId);

  /** Lets the others know which roles this process comes to, where it is among the first. Returns whether there is something to say. */
  const announce = (now: Live): boolean => {
    const alone = comingRoles.filter((role) => !roles.has(role) && havingOf(now, role).length === 0);
    alone.forEach((role) => roles.add(coming(role)));
    return alone.length > 0;
  };

  const prospectOf = (role: string): Prospect => {
    const going = new Set(leavingOf(live, role));
    const then = [...new Set([...dealtAmong(live, role), memberId])].filter((id) => id === memberId || !going.has(id));
    return {
      // The share of one that has said that it comes is left to it: nobody works on it.
      isServed: !roles.has(coming(role)) && havingOf(live, role).some((id) => id !== memberId),
      willBeMine: (key) => ownerOf(key, then) === memberId,
    };
  };

  const handOver = createHandOver({
    ...{ memberId, clock, log, live: () => live, prospectOf },
    say(notice) {
      roles.add(notice);
      giveNow();
    },
    unsay: (notice) => void roles.delete(notice),
  });

  const beat = async (signal: AbortSignal): Promise<void> => {
    const limit = limitTime({ clock, doing: "saying that we live", timeoutMs: ttlMs }, signal);
    const saidAtMs = clock.monotonicMs();
    try {
      const said = [...roles];
      const now = await store.heartbeat(memberId, said, ttlMs, limit.signal);
      const hasLapsed = clock.monotonicMs() - livedAtMs >= ttlMs;
      const isFirst = livedAtMs === Number.NEGATIVE_INFINITY;
      livedAtMs = saidAtMs;
      learn(now, hasLapsed);
      said.forEach(endWaits);
      handOver.learn(said);
      if (isFirst && announce(now)) giveNow();
      else known.resolve();
    } catch (error) {
      if (!signal.aborted) log.warn({ error }, "Keeping the last known share, saying that we live failed");
      // Nobody can be notified, and who is prepared cannot be learned.
      handOver.giveUp();
    } finally {
      limit.release();
    }
  };

  const endWaits = (role: string): void => {
    for (const end of joining.get(role) ?? []) end();
    joining.delete(role);
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const unsubscribe = changes.subscribe((notified) => {
      if (notified !== "missed" && notified.some(({ kind, id }) => kind === "member" && id !== memberId)) giveNow();
    });
    while (!signal.aborted) {
      // Before the sign of life is given: what is asked for meanwhile may come too late for it.
      const pause = linkSignal(signal);
      giveNow = () => pause.abort(new Error("the next sign of life is due now"));
      await beat(signal);
      await sleep(clock, renewMs, pause.signal).catch(() => {});
      pause.release();
    }
    unsubscribe();
    [...joining.keys()].forEach(endWaits);
    handOver.giveUp();
    known.resolve();
  };

  const leave = async (): Promise<void> => {
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
        if (!hasRole(live, role)) return false;
        const members = dealtAmong(live, role);
        return members.length === 1 || ownerOf(key, members) === memberId;
      },
      onChange(listener) {
        const own = (change: ShareChange): void => listener(change);
        const ofRole = listeners.get(role) ?? new Set();
        listeners.set(role, ofRole.add(own));
        return () => void ofRole.delete(own);
      },
    }),
    start(signal) {
      running = run(AbortSignal.any([signal, ending.signal]));
    },
    join(role) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (ending.signal.aborted) resolve();
      else joining.set(role, [...(joining.get(role) ?? []), resolve]);
      roles.delete(coming(role));
      roles.add(role);
      giveNow();
      return promise;
    },
    async prospect(role) {
      await known.promise;
      return prospectOf(role);
    },
    handOver: async (role, signal) => {
      if (!ending.signal.aborted) await handOver.begin(role, signal);
    },
    onLeaving: handOver.onLeaving,
    stop() {
      left ??= leave();
      return left;
    },
  };
}
