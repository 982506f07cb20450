import { millis } from "../../src/domain/clock.ts";
import { ZERO_LOAD } from "../../src/domain/load.ts";
import type { PlannedMove } from "../../src/domain/plan.ts";
import { createSeededRng } from "../../src/runtime/rng.ts";
import { ewma, presentLoad } from "../../src/scheduler/load/planning-load.ts";
import { nextStarts } from "../../src/scheduler/plan/next-starts.ts";
import { planMoves } from "../../src/scheduler/plan/plan-moves.ts";
import type { PlanSeat, PlanUnit } from "../../src/scheduler/plan/snapshot.ts";
import { createRingMemo } from "../../src/scheduler/ring-memo.ts";
import { UNBRAKED } from "./events.ts";
import { afterMoves, makeFleet, START, snapshotOf } from "./fleets.ts";

export interface HotShape {
  readonly seed: number;
  /** Whether the health verdict opens the gate; without it planning load alone decides. */
  readonly hasGate: boolean;
}

export interface HotOutcome extends HotShape {
  /** Load of the instance right after its tenant floods it, of its capacity. */
  readonly flooded: number;
  /** From the verdict until the instance is within 90 % again; absent: not within the hour. */
  readonly relievedSeconds: number | undefined;
  readonly moves: number;
}

const TICK_SECONDS = 10;
const HOUR_SECONDS = 3_600;
/** The verdict comes this long after the flood, and a move takes this long. */
const VERDICT_SECONDS = 60;
const MOVE_SECONDS = 10;
const SAMPLE_SECONDS = 60;

interface Flight {
  readonly move: PlannedMove;
  readonly endsAt: number;
}

/**
 * One tenant of a fleet of 50 instances at 70 % floods its instance until it would need 1.3 times its capacity. Once a minute loads are sampled and a plan is made; its moves are started as `nextStarts` says, and take 10 s each.
 */
export function runHot(shape: HotShape): HotOutcome {
  const fleet = makeFleet({ tail: "lognormal", workspaces: 10_000, instances: 50, utilisation: { milliCpu: 0.7 }, seed: shape.seed });
  const ringOf = createRingMemo()("hot");
  let units = afterMoves(fleet.units, planMoves(snapshotOf(fleet), { policy: UNBRAKED, ringOf }).moves);
  const { seat, present } = flood(fleet.seats, units, shape.seed);
  const planning = units.map(({ load }) => load.milliCpu);
  const recent = [...planning];
  const shareNow = (): number =>
    units.reduce((sum, { owner }, index) => (owner === seat.id ? sum + (present[index] as number) : sum), 0) / seat.capacity.milliCpu;
  const flooded = shareNow();
  let [flights, waiting, verified, moves] = [[] as readonly Flight[], [] as readonly PlannedMove[], 0, 0];
  for (let second = 0; second < HOUR_SECONDS; second += TICK_SECONDS) {
    const ended = flights.filter(({ endsAt }) => endsAt <= second);
    flights = flights.filter(({ endsAt }) => endsAt > second);
    verified += ended.length;
    moves += ended.length;
    units = afterMoves(
      units,
      ended.map(({ move }) => move),
    );
    if (second >= VERDICT_SECONDS && shareNow() <= 0.9) return { ...shape, flooded, relievedSeconds: second - VERDICT_SECONDS, moves };
    if (second % SAMPLE_SECONDS === 0) sample({ present, planning, recent });
    if (second < VERDICT_SECONDS) continue;
    if (waiting.length === 0 && flights.length === 0 && second % SAMPLE_SECONDS === 0) {
      verified = 0;
      waiting = planMoves(pictureOf({ fleet: fleet.seats, units, planning, recent, seat, isHot: shape.hasGate, second }), { ringOf }).moves;
    }
    const started = nextStarts({ waiting, underWay: flights.map(({ move }) => move), verified, clustersOf: () => [] });
    waiting = waiting.filter((move) => !started.includes(move));
    flights = [...flights, ...started.map((move) => ({ move, endsAt: second + MOVE_SECONDS }))];
  }
  return { ...shape, flooded, relievedSeconds: undefined, moves };
}

interface Loads {
  readonly present: readonly number[];
  readonly planning: number[];
  readonly recent: number[];
}

function sample({ present, planning, recent }: Loads): void {
  for (const [index, load] of present.entries()) {
    planning[index] = ewma(planning[index] as number, load, SAMPLE_SECONDS / 86_400);
    recent[index] = presentLoad(recent[index] as number, load, SAMPLE_SECONDS * 1_000);
  }
}

interface Picture {
  readonly fleet: readonly PlanSeat[];
  readonly units: readonly PlanUnit[];
  readonly planning: readonly number[];
  readonly recent: readonly number[];
  readonly seat: PlanSeat;
  readonly isHot: boolean;
  readonly second: number;
}

function pictureOf({ fleet, units, planning, recent, seat, isHot, second }: Picture) {
  const at = millis(START + second * 1_000);
  const seats = fleet.map((each) => (each.id === seat.id ? { ...each, isOverloaded: isHot, aboveSince: START } : each));
  const measured = units.map((unit, index) => ({
    ...unit,
    load: { ...ZERO_LOAD, milliCpu: Math.ceil(planning[index] as number) },
    recentLoad: { ...ZERO_LOAD, milliCpu: Math.ceil(recent[index] as number) },
  }));
  return snapshotOf({ seats, units: measured }, { at });
}

/** Largest unit of some instance, as many times its load as fill the instance to 1.3 of its capacity. */
function flood(
  seats: readonly PlanSeat[],
  units: readonly PlanUnit[],
  seed: number,
): { readonly seat: PlanSeat; readonly present: readonly number[] } {
  const rng = createSeededRng(`hot ${seed}`);
  const seat = seats[Math.floor(rng.next() * seats.length)] as PlanSeat;
  const held = units.filter(({ owner }) => owner === seat.id);
  const carried = held.reduce((sum, { load }) => sum + load.milliCpu, 0);
  const tenant = held.reduce((a, b) => (b.load.milliCpu > a.load.milliCpu ? b : a));
  const wanted = (1.3 * seat.capacity.milliCpu - carried) / tenant.load.milliCpu + 1;
  return { seat, present: units.map((unit) => (unit === tenant ? tenant.load.milliCpu * wanted : unit.load.milliCpu)) };
}
