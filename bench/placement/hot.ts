import { type Millis, millis } from "../../src/domain/clock.ts";
import type { InstanceId, MoveId } from "../../src/domain/ids.ts";
import { ZERO_LOAD } from "../../src/domain/load.ts";
import type { MovePhase } from "../../src/domain/move.ts";
import type { PlannedMove } from "../../src/domain/plan.ts";
import { DEFAULT_BUDGETS, nextStarts, type StartBudgets } from "../../src/mover/next-starts.ts";
import { createSeededRng } from "../../src/runtime/rng.ts";
import { unrelieved } from "../../src/scheduler/load/next-overloaded.ts";
import { ewma, presentLoad } from "../../src/scheduler/load/planning-load.ts";
import { planMoves } from "../../src/scheduler/plan/plan-moves.ts";
import type { PlanCandidate, PlanUnit } from "../../src/scheduler/plan/snapshot.ts";
import { kindOf } from "../../src/scheduler/plan/validate-step.ts";
import { createRingMemo } from "../../src/scheduler/ring-memo.ts";
import { UNLIMITED_POLICY } from "./events.ts";
import { afterMoves, makeFleet, START, snapshotOf } from "./fleets.ts";

export interface HotShape {
  readonly seed: number;
  /** Whether a verdict on health opens the gate. Without it only planning load decides. */
  readonly hasGate: boolean;
  /** How many moves may be under way at once. Absent: the mover's own budgets. */
  readonly budgets?: StartBudgets;
}

export interface HotOutcome extends Pick<HotShape, "seed" | "hasGate"> {
  /** The load of the instance right after its tenant floods it, as a share of its capacity. */
  readonly flooded: number;
  /** From the verdict until the instance is within 90 % again. Absent: not within an hour. */
  readonly relievedSeconds: number | undefined;
  readonly moves: number;
  /** The largest number of moves under way at once. */
  readonly atOnce: number;
}

const TICK_SECONDS = 10;
const HOUR_SECONDS = 3_600;
/** How long after the flood the verdict comes, and how long a move takes. */
const VERDICT_SECONDS = 60;
const MOVE_SECONDS = 10;
const SAMPLE_SECONDS = 60;
/** Time between two plans without a notification. */
const CYCLE_SECONDS = 120;

/** A move that was requested. */
interface Requested {
  readonly move: PlannedMove;
  readonly requestedAt: number;
  /** Absent: it waits for its turn. */
  readonly endsAt?: number;
}

/**
 * In a fleet of 50 instances at 70 %, one tenant floods its instance until it would need 1.3 times its capacity.
 * Loads are sampled once a minute. The verdict comes a minute after the flood and notifies the planner. Later plans
 * come every two minutes, and only once the earlier moves could have helped. A plan requests all its moves; the mover
 * begins them as its budgets allow, and each takes 10 s.
 */
export function runHot({ budgets = DEFAULT_BUDGETS, ...shape }: HotShape): HotOutcome {
  const fleet = makeFleet({ tail: "lognormal", workspaces: 10_000, instances: 50, utilisation: { milliCpu: 0.7 }, seed: shape.seed });
  const ringOf = createRingMemo()("hot");
  let units = afterMoves(fleet.units, planMoves(snapshotOf(fleet), { policy: UNLIMITED_POLICY, ringOf }).moves);
  const { candidate, present } = flood(fleet.candidates, units, shape.seed);
  const planning = units.map(({ load }) => load.milliCpu);
  const recent = [...planning];
  const shareNow = (): number =>
    units.reduce((sum, { owner }, index) => (owner === candidate.id ? sum + (present[index] as number) : sum), 0) /
    candidate.capacity.milliCpu;
  const flooded = shareNow();
  let requested: readonly Requested[] = [];
  const ended: { readonly from: InstanceId; readonly reason: PlannedMove["reason"]; readonly at: Millis }[] = [];
  let atOnce = 0;
  for (let second = 0; second < HOUR_SECONDS; second += TICK_SECONDS) {
    const at = instantOf(second);
    const over = requested.filter(({ endsAt }) => endsAt !== undefined && endsAt <= second).map(({ move }) => move);
    requested = requested.filter(({ endsAt }) => endsAt === undefined || endsAt > second);
    ended.push(...over.flatMap(({ from, reason }) => (from === undefined ? [] : [{ from, reason, at }])));
    units = afterMoves(units, over);
    const sinceVerdict = second - VERDICT_SECONDS;
    if (sinceVerdict >= 0 && shareNow() <= 0.9) return { ...shape, flooded, relievedSeconds: sinceVerdict, moves: ended.length, atOnce };
    if (second % SAMPLE_SECONDS === 0) sample({ present, planning, recent });
    if (sinceVerdict < 0) continue;
    if (sinceVerdict % CYCLE_SECONDS === 0) {
      const moving = requested.map(({ move }) => ({ unit: { owner: move.from }, movingTo: move.to }));
      const isUnrelieved =
        unrelieved([{ instanceId: candidate.id, at }], { instances: [candidate], units: moving, moves: ended }, at).length > 0;
      const picture = pictureOf({
        fleet: fleet.candidates,
        units,
        planning,
        recent,
        candidate,
        isHot: shape.hasGate && isUnrelieved,
        second,
      });
      if (requested.length === 0) requested = planMoves(picture, { ringOf }).moves.map((move) => ({ move, requestedAt: second }));
    }
    const begun = new Set<string>(nextStarts(requested.flatMap(liveMove), { budgets }).map(({ unitId }) => unitId));
    requested = requested.map((each) => (begun.has(each.move.unit) ? { ...each, endsAt: second + MOVE_SECONDS } : each));
    atOnce = Math.max(atOnce, requested.filter(({ endsAt }) => endsAt !== undefined).length);
  }
  return { ...shape, flooded, relievedSeconds: undefined, moves: ended.length, atOnce };
}

const instantOf = (second: number): Millis => millis(START + second * 1_000);

/** The row of a move, as the scheduler writes it and the mover reads it. */
function liveMove({ move: { unit, from, to, reason }, requestedAt, endsAt }: Requested) {
  if (from === undefined) return [];
  const phase: MovePhase = endsAt === undefined ? "WAITING" : "PREPARE";
  const kind = kindOf("rebalance", reason, "ACTIVE");
  return [{ id: String(unit) as MoveId, unitId: unit, from, to, reason, kind, phase, createdAt: instantOf(requestedAt) }];
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
  readonly fleet: readonly PlanCandidate[];
  readonly units: readonly PlanUnit[];
  readonly planning: readonly number[];
  readonly recent: readonly number[];
  readonly candidate: PlanCandidate;
  readonly isHot: boolean;
  readonly second: number;
}

function pictureOf({ fleet, units, planning, recent, candidate, isHot, second }: Picture) {
  const at = instantOf(second);
  const candidates = fleet.map((each) => (each.id === candidate.id ? { ...each, isOverloaded: isHot, aboveSince: START } : each));
  const measured = units.map((unit, index) => ({
    ...unit,
    load: { ...ZERO_LOAD, milliCpu: Math.ceil(planning[index] as number) },
    recentLoad: { ...ZERO_LOAD, milliCpu: Math.ceil(recent[index] as number) },
  }));
  return snapshotOf({ candidates, units: measured }, { at });
}

/** The largest unit of some instance, multiplied until its load fills the instance to 1.3 of its capacity. */
function flood(
  candidates: readonly PlanCandidate[],
  units: readonly PlanUnit[],
  seed: number,
): { readonly candidate: PlanCandidate; readonly present: readonly number[] } {
  const rng = createSeededRng(`hot ${seed}`);
  const candidate = candidates[Math.floor(rng.next() * candidates.length)] as PlanCandidate;
  const held = units.filter(({ owner }) => owner === candidate.id);
  const carried = held.reduce((sum, { load }) => sum + load.milliCpu, 0);
  const tenant = held.reduce((a, b) => (b.load.milliCpu > a.load.milliCpu ? b : a));
  const wanted = (1.3 * candidate.capacity.milliCpu - carried) / tenant.load.milliCpu + 1;
  return { candidate, present: units.map((unit) => (unit === tenant ? tenant.load.milliCpu * wanted : unit.load.milliCpu)) };
}
