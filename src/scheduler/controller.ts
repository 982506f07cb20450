import type { Clock } from "../domain/clock.ts";
import type { UnitId } from "../domain/ids.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import { createKeyedQueue } from "../runtime/keyed-queue.ts";
import { every } from "../runtime/timer/every.ts";
import type { FleetSnapshot } from "../store/placement/port.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { placeUnit, type Seat } from "./place-unit.ts";
import { placementDecision } from "./placement-decision.ts";
import { DEFAULT_POLICY } from "./policy.ts";
import { createRingMemo } from "./ring-memo.ts";

export interface SchedulerDeps {
  readonly store: Pick<Store, "placements" | "changes">;
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

/** A lost hint costs no more than this. */
const SWEEP_MS = 15_000;
const SWEEP_LIMIT = 1_000;
const AT_ONCE = 8;

/** Gives every unit without owner its first instance, at once and off any planning cycle. */
export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { store, partition, clock, rng, log } = deps;
  const ending = new AbortController();
  const ringsOf = createRingMemo();
  const queue = createKeyedQueue({
    ...deps,
    name: "placement",
    concurrency: AT_ONCE,
    rng: rng.fork("placement"),
    work: (key, signal) => place({ ...deps, ringsOf }, key as UnitId, signal),
  });
  const sweep = createKeyedQueue({
    ...deps,
    name: "placement-sweep",
    concurrency: 1,
    rng: rng.fork("placement-sweep"),
    work: (_key, signal) => sweepUnplaced(signal),
  });
  const sweepUnplaced = async (signal: AbortSignal): Promise<void> => {
    for (const id of await store.placements.listUnplaced(SWEEP_LIMIT, signal)) if (partition.isMine(id)) queue.add(id);
  };
  const sweepSoon = (): void => sweep.add("unplaced");
  const stop = async (): Promise<void> => {
    ending.abort(new Error("the scheduler stops"));
    await Promise.all([sweep.stop(), queue.stop()]);
  };
  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      const ends = [
        store.changes.subscribe((changes) => {
          if (changes === "missed" || changes.some(({ kind }) => kind === "instance")) return sweepSoon();
          for (const { kind, id } of changes) if (kind === "unit" && partition.isMine(id)) queue.add(id);
        }),
        partition.onChange(sweepSoon),
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

/** How often a seat that filled up under our hands is looked for again before the key backs off. */
const ATTEMPTS = 5;

interface Placing extends SchedulerDeps {
  readonly ringsOf: ReturnType<typeof createRingMemo>;
}

async function place(placing: Placing, id: UnitId, signal: AbortSignal): Promise<{ readonly requeueAfterMs?: number }> {
  const { store, clock, log, ringsOf } = placing;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const found = await store.placements.readUnit(id, signal);
    if (found === undefined || found.unit.owner !== undefined) return {};
    const { unit } = found;
    const question = { unit, seats: seatsOf(await store.placements.readFleet(unit.class, signal)), policy: DEFAULT_POLICY };
    const placement = placeUnit(question, ringsOf(unit.class));
    const decision = placementDecision(question, placement, clock.now());
    if (placement.kind === "unplaceable") {
      log.warn({ unit: id, class: unit.class }, "Leaving a unit without an instance, none has room");
      await store.placements.recordUnplaceable(id, decision, signal);
      return {};
    }
    log.info({ unit: id, instance: placement.instance, rule: placement.rule }, "Placing a unit");
    const { instance, ceiling } = placement;
    const outcome = await store.placements.commitFirstPlacement(
      { unitId: id, rowVersion: unit.rowVersion, instanceId: instance, ceiling, decision },
      signal,
    );
    if (outcome.kind === "placed") return {};
  }
  return { requeueAfterMs: 100 };
}

function seatsOf(fleet: FleetSnapshot): readonly Seat[] {
  return fleet.instances.map(({ instance: { id, name, state, capacity, weight }, load }) => ({ id, name, state, capacity, weight, load }));
}
