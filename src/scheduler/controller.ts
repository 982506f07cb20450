import type { Change } from "../domain/change.ts";
import type { Clock } from "../domain/clock.ts";
import type { UnitId } from "../domain/ids.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import type { LiveMoves } from "../mover/port.ts";
import { createKeyedQueue } from "../runtime/keyed-queue.ts";
import { every } from "../runtime/timer/every.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { chooseOn, placeFirst, recordWaiting } from "./find-instance.ts";
import { keepFleets, type OpenFleet } from "./keep-fleets.ts";
import { isRefusedAgain } from "./placement-decision.ts";
import { requestClassMove } from "./request-class-move.ts";
import { requestGroupMove } from "./request-group-move.ts";
import { createRingMemo } from "./ring-memo.ts";

export interface SchedulerDeps {
  readonly store: Pick<Store, "placements" | "changes" | "directives" | "rollouts">;
  /** Requests the live moves of units that are to have another class. */
  readonly moving: Pick<LiveMoves, "askFor">;
  /** By unit id. */
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Scheduler {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  /** Resolves when nothing waits for its turn and nothing runs. */
  idle(): Promise<void>;
}

/** Time between two sweeps for units without an owner, in another class than they are to have, or whose groups were changed, in ms: a lost notification costs no more than this. */
const SWEEP_MS = 15_000;
/** How many units of this process's share one sweep tries. The next sweep continues after them, so units that fit nowhere cannot block the rest. */
const SWEEP_LIMIT = 1_000;
const AT_ONCE = 8;
/** How many units a sweep reads with one statement. */
const AT_A_TIME = 200;

/**
 * Gives every unit without an owner its first instance, at once and outside the planning cycle. For each unit that is to have another class it requests
 * a live move to an instance of that class, and for each that must be apart from others where it is, one away from them.
 */
export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { store, partition, clock, rng, log } = deps;
  const ending = new AbortController();
  const ringsOf = createRingMemo();
  const fleets = keepFleets({ ...deps, ringsOf });
  const placing = { ...deps, store: { ...store, placements: fleets.placements }, ringsOf, fleets };
  const queue = createKeyedQueue({
    ...deps,
    name: "placement",
    concurrency: AT_ONCE,
    rng: rng.fork("placement"),
    work: (key, signal) => settle(key as UnitId, signal),
  });
  const sweep = createKeyedQueue({
    ...deps,
    name: "placement-sweep",
    concurrency: 1,
    rng: rng.fork("placement-sweep"),
    work: (_key, signal) => sweepUnsettled(signal),
  });
  const settle = async (id: UnitId, signal: AbortSignal) => {
    const found = await store.placements.readUnit(id, signal);
    if (found === undefined) return {};
    const { owner, wantedClass } = found.unit;
    if (owner === undefined) {
      const { placedOn, ...next } = await placeFirst(placing, found, signal);
      if (placedOn !== undefined) fleets.add(found.unit, placedOn);
      return next;
    }
    if (found.unit.isRegrouped === true && (await requestGroupMove(placing, found, signal))) return {};
    if (wantedClass !== undefined) await requestClassMove(placing, found, wantedClass, signal);
    return {};
  };
  /**
   * Of units that wait, those for which no instance of their class has room are known from one reading of it, however many they are: whoever was refused for
   * the same before costs nothing more. All others have their turn.
   */
  const tryAgain = async (ids: readonly UnitId[], pass: Map<string, OpenFleet>, signal: AbortSignal): Promise<void> => {
    for (const found of await store.placements.readUnits(ids, signal)) {
      const { id, owner, class: name } = found.unit;
      if (owner !== undefined) {
        queue.add(id);
        continue;
      }
      const fleet = pass.get(name) ?? (await fleets.read(name, signal));
      pass.set(name, fleet);
      const choice = chooseOn(fleet, found);
      if (choice.placement.kind !== "unplaceable") queue.add(id);
      else if (!isRefusedAgain(found, choice.placement)) await recordWaiting(placing, found, choice, signal);
    }
  };
  /** The last unit that a sweep has read; empty: the next sweep begins with the oldest. */
  let after = "";
  const sweepUnsettled = async (signal: AbortSignal): Promise<void> => {
    const pass = new Map<string, OpenFleet>();
    let tried = 0;
    do {
      const page = await store.placements.listUnsettled({ limit: SWEEP_LIMIT, after }, signal);
      const mine = page.filter((id) => partition.isMine(id));
      for (let from = 0; from < mine.length; from += AT_A_TIME) await tryAgain(mine.slice(from, from + AT_A_TIME), pass, signal);
      tried += mine.length;
      after = page.length < SWEEP_LIMIT ? "" : (page.at(-1) ?? "");
    } while (after !== "" && tried < SWEEP_LIMIT);
  };
  const sweepSoon = (): void => sweep.add("unsettled");
  const stop = async (): Promise<void> => {
    ending.abort(new Error("the scheduler stops"));
    await Promise.all([sweep.stop(), queue.stop()]);
  };
  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      const ends = [
        store.changes.subscribe((changes) => {
          if (isAbout(changes, ["instance", "verdict"])) fleets.forget();
          if (changes === "missed" || isAbout(changes, ["instance"])) return sweepSoon();
          for (const { kind, id } of changes) if (kind === "unit" && partition.isMine(id)) queue.add(id);
        }),
        partition.onChange(({ mayGain }) => void (mayGain && sweepSoon())),
      ];
      ending.signal.addEventListener("abort", () => ends.forEach((end) => end()), { once: true });
      every({ clock, rng, log, ms: SWEEP_MS, run: sweepSoon }, ending.signal);
      sweep.start();
      queue.start();
      sweepSoon();
    },
    stop,
    idle: async () => void (await Promise.all([sweep.idle(), queue.idle()])),
  };
}

/** Whether one of these kinds has changed, or may have. */
function isAbout(changes: readonly Change[] | "missed", kinds: readonly Change["kind"][]): boolean {
  return changes === "missed" || changes.some(({ kind }) => kinds.includes(kind));
}
