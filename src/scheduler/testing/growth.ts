import { type Millis, millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import { type LoadVector, loadVector } from "../../domain/load.ts";
import type { MoveReason } from "../../domain/plan.ts";
import { FIRST_WEIGHTS } from "../load/cpu-weights.ts";
import { type CountedLoad, type SampledLoads, takeSample } from "../load/take-sample.ts";
import { assembleSnapshot, type ClassState, type PlanningFacts, type PlanningUnit, presentLoads } from "../plan/assemble.ts";
import { makePlan } from "../plan/make-plan.ts";
import { nextClassState } from "../plan/next-class-state.ts";
import { createRingMemo } from "../ring-memo.ts";
import { dominantShare } from "../utilisation.ts";
import { aFacts, aRow, aUnitRow } from "./facts.ts";
import { NOON } from "./snapshots.ts";

/** What happens when a workspace grows from one application to a thousand within an hour, on an instance that is 70 % full. */
export interface Growth {
  /** Minutes into the growth until its instance passed 90 % of its capacity, until a plan relieved it, and until it was within 90 % for good. */
  readonly fullAt: number | undefined;
  readonly plannedAt: number | undefined;
  readonly relievedAt: number | undefined;
  readonly moves: readonly MoveReason[];
  /** Utilisation of its instance in the end, ppm, and of the fullest other. */
  readonly share: number;
  readonly others: number;
}

const INSTANCES = 10;
const WORKSPACES = 40;
const APPLICATIONS = 35;
const GROWS_MINUTES = 60;
const WATCHED_MINUTES = 120;
/** As often as instances are measured and plans are made. */
const TICK_MINUTES = 2;
const CAPACITY: LoadVector = { ...loadVector(() => 10_000_000), applications: 2_000_000, milliCpu: 8_000 };
const MILLI_CPU = 2.5;

/**
 * Simulates it with samples, the class's state and plans that are made from rows; the moves of a plan have ended when the next one is
 * made. Without `hasGate` every overload is forgotten before plans may move units because of it.
 */
export function simulateGrowth(hasGate: boolean): Growth {
  const ringOf = createRingMemo()("growth");
  const instances = Array.from({ length: INSTANCES }, (_, index) => aRow(`i${index}`, { capacity: CAPACITY }));
  const grown = aUnitRow("grows", "i0", 1_000);
  let rows: readonly PlanningUnit[] = [grown, ...instances.flatMap(({ name }) => tenantsOf(name))];
  let state: ClassState = { aboveSince: {}, overloadedSince: {} };
  const grownOn = grown.unit.owner as InstanceId;
  const seen = {
    fullAt: undefined as number | undefined,
    plannedAt: undefined as number | undefined,
    relievedAt: undefined as number | undefined,
  };
  const reasons: MoveReason[] = [];
  let shares = new Map<string, number>();
  for (let minute = 0; minute <= WATCHED_MINUTES; minute += TICK_MINUTES) {
    const at = millis(NOON + minute * 60_000);
    const count = 1 + Math.round((999 * Math.min(minute, GROWS_MINUTES)) / GROWS_MINUTES);
    const facts = measure(rows, { at, instances, state, applicationsOf: ({ unit }) => (unit.id === grown.unit.id ? count : APPLICATIONS) });
    shares = new Map(presentLoads(facts).map(({ id, load, capacity }) => [id, dominantShare(load, capacity)]));
    const isFull = (shares.get(grownOn) ?? 0) > 900_000;
    if (isFull) seen.fullAt ??= minute;
    seen.relievedAt = isFull || seen.fullAt === undefined ? undefined : (seen.relievedAt ?? minute);
    const next = nextClassState(facts, assembleSnapshot(facts, at));
    state = hasGate ? next : { ...next, overloadedSince: {} };
    const { moves } = makePlan({ ...facts, state }, { kind: "rebalance" }, { at, ringOf }).plan;
    if (moves.some(({ from }) => from === grownOn)) seen.plannedAt ??= minute;
    reasons.push(...moves.map(({ reason }) => reason));
    const to = new Map<UnitId, InstanceId>(moves.map((move) => [move.unit, move.to]));
    rows = facts.units.map((row) => moved(row, to.get(row.unit.id), at));
  }
  const others = [...shares].filter(([id]) => id !== grownOn).map(([, share]) => share);
  return { ...seen, moves: reasons, share: shares.get(grownOn) ?? 0, others: Math.max(...others) };
}

function tenantsOf(instance: string): readonly PlanningUnit[] {
  return Array.from({ length: WORKSPACES }, (_, index) => aUnitRow(`${instance}-${String(index).padStart(2, "0")}`, instance, 0));
}

function moved(row: PlanningUnit, to: InstanceId | undefined, at: Millis): PlanningUnit {
  return to === undefined ? row : { ...row, unit: { ...row.unit, owner: to, epoch: row.unit.epoch + 1 }, movedAt: at };
}

interface Moment extends Pick<PlanningFacts, "instances" | "state"> {
  readonly at: Millis;
  readonly applicationsOf: (row: PlanningUnit) => number;
}

/** Rows after one sample of every instance: what was measured of each unit, and of all together. */
function measure(rows: readonly PlanningUnit[], { at, instances, state, applicationsOf }: Moment): PlanningFacts {
  const taken = new Map<string, SampledLoads["units"][number]>();
  const instanceLoads = instances.map(({ id }) => {
    const units = rows.filter(({ unit }) => unit.owner === id).map((row) => countedOf(row, applicationsOf(row)));
    const applicationsIn = ({ destinations }: CountedLoad): number => destinations.reduce((sum, { applications }) => sum + applications, 0);
    const requestsPerMinute = Object.fromEntries(units.map((unit) => [unit.unitId, applicationsIn(unit)]));
    const milliCpu = Math.round(units.reduce((sum, unit) => sum + applicationsIn(unit) * MILLI_CPU, FIRST_WEIGHTS.base));
    const rates = { milliCpu, requestsPerMinute, reconcileMs: {}, reconciliations: {}, git: undefined };
    const sample = takeSample({ at, units, rates, environmentOf: () => undefined, weights: FIRST_WEIGHTS });
    for (const unit of sample.units) taken.set(unit.unitId, unit);
    return { instanceId: id, at, total: sample.total, observation: sample.observation };
  });
  const measured = rows.map((row) => {
    const known = taken.get(row.unit.id);
    return known === undefined ? row : { ...row, known: known.load, unit: { ...row.unit, load: known.whole } };
  });
  return aFacts(instances, measured, { instanceLoads, state });
}

function countedOf({ unit, known }: PlanningUnit, applications: number): CountedLoad {
  const { id: unitId, epoch } = unit;
  const destinations = [{ isOwn: true, environments: [], applications, resources: applications * 12 }];
  return { unitId, epoch, projects: [unitId], destinations, repositories: {}, known };
}
