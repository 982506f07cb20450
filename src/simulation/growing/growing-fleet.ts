import { type Millis, millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance, InstanceState } from "../../domain/instance.ts";
import { loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { createReconcilePool } from "../../instance-provisioner/reconcile-pool.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { nextLoad, type UnitLoad, wholeLoad } from "../../scheduler/load/planning-load.ts";
import { createPlanRequests } from "../../scheduler/plan-cycle/carry-out-plan.ts";
import { createDrainRequests } from "../../scheduler/plan-cycle/empty-instance.ts";
import { refreshPlan } from "../../scheduler/plan-cycle/refresh-plan.ts";
import { createRingMemo } from "../../scheduler/ring-memo.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { aDecision, aFleet, aPool, CLASS } from "../../store/testing/builders.ts";
import { createWorld } from "../../store/testing/world.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import type { DemandModel } from "./demand-model.ts";
import { createWaits, type Waits } from "./waits.ts";

export interface GrowingOptions {
  readonly demand: DemandModel;
  readonly workspaces: number;
  readonly days: number;
  readonly seed: string;
  /** Instances at the beginning. */
  readonly instances: number;
  /** Whether the load decides how many there are then. */
  readonly scales: boolean;
  /** Whether plans are carried out. */
  readonly rebalances: boolean;
  /** Called once a simulated day. */
  readonly onDay?: (day: DayFigures) => void;
}

/** What has come of it so far. */
export interface DayFigures {
  readonly day: number;
  /** Instances that serve now. */
  readonly serving: number;
  readonly instanceHours: number;
  readonly p99S: number;
  readonly worstS: number;
}

export interface GrowingFigures {
  readonly instanceHours: number;
  /** The most instances that served at once. */
  readonly most: number;
  /** How long comparisons waited: 99 % of all less than this, and the longest mean of an instance within a step; in s. */
  readonly p99S: number;
  readonly worstS: number;
  /** Moves that were made: of all, per workspace and year; and how many that need not have been made came within a day after another one of the same workspace. */
  readonly moves: number;
  readonly perWorkspaceYear: number;
  readonly again: number;
  readonly kept: number;
  readonly broken: number;
  readonly grown: number;
  readonly shrunk: number;
  /** Instances that died. */
  readonly died: number;
}

const never = new AbortController().signal;
const STEP_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** The one dimension that runs out, in units so small that rounding loses little of what a small workspace takes. */
export const INSTANCE_CPU = 20_000;
const CAPACITY = { ...loadVector(() => 1_000_000_000), milliCpu: INSTANCE_CPU };
const MOST_INSTANCES = 200;
const SERVES: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

/**
 * Runs a class of workspaces for days under a demand that grows, with Argosy's own scheduler and pools, step by step of ten minutes. Each week one instance
 * dies, and what it held is handed over as health does. Nothing is deployed, so a move is made at once. The same options give the same figures.
 */
export async function runGrowing(options: GrowingOptions): Promise<GrowingFigures> {
  const { demand, workspaces, days, seed, scales, rebalances, onDay } = options;
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const parts = { store, clock, ids: createCountingIds(), log: silentLog };
  const moving = createMoveRequests(parts);
  const planning = createPlanRequests({ ...parts, moving });
  const draining = createDrainRequests({ ...parts, planning, moving });
  const reconcilePool = createReconcilePool({ ...parts, fleet: store.fleet, loads: store.loads });
  const ringsOf = createRingMemo();
  const counter = noMetrics.counter("none", "", []);
  const refresh = () =>
    refreshPlan(
      { ...parts, moving, planning, draining, relieves: rebalances, proposed: counter, promised: counter },
      CLASS,
      ringsOf(CLASS),
      never,
    );
  const rng = createSeededRng(`growing ${seed}`);
  const waits = createWaits();
  const units = await fill(store, options, { reconcilePool, at: clock.now() });
  const loads = new Map<UnitId, UnitLoad>();
  let [instanceHours, most, died] = [0, 0, 0];

  for (let elapsed = 0; elapsed < days * DAY_MS; elapsed += STEP_MS) {
    await clock.advance(STEP_MS);
    await provision(store, reconcilePool, clock.now());
    const facts = await store.plans.readFacts(CLASS, clock.now(), never);
    const of = (unit: UnitId): number => demand.of(units.get(unit) ?? 0, elapsed);
    const dead = elapsed > 0 && elapsed % WEEK_MS === 0 ? pick(facts.instances, rng.next()) : undefined;
    const serving = servingOf(facts);
    wait(waits, serving, { of, dead });
    instanceHours += (serving.length * STEP_MS) / HOUR_MS;
    most = Math.max(most, serving.length);
    await measure(store, { serving, loads, at: clock.now(), of });
    if (dead !== undefined) {
      died += 1;
      await draining.begin(dead, { actor: "health", reason: "it died", isFailOver: true }, never);
    }
    if (rebalances || scales) await refresh();
    if (elapsed % DAY_MS !== 0) continue;
    onDay?.({ day: elapsed / DAY_MS, serving: serving.length, instanceHours, p99S: waits.quantile(0.99), worstS: waits.worstS() });
    // As retention does: planning reads what is kept.
    await store.retention.forgetPlans(millis(clock.now() - 2 * DAY_MS), ALL, never);
  }
  return {
    ...{ instanceHours: Math.round(instanceHours), most, died, p99S: waits.quantile(0.99), worstS: waits.worstS() },
    ...(await countMoves(store, { workspaces, days })),
    ...(await countVerdicts(store)),
  };
}

type Reconcile = ReturnType<typeof createReconcilePool>;

/** Declares the fleet and deals the workspaces in turn. Returns the number of each unit's workspace. */
async function fill(
  store: MemoryStore,
  { workspaces, instances: first, scales, rebalances }: GrowingOptions,
  { reconcilePool, at }: { readonly reconcilePool: Reconcile; readonly at: Millis },
): Promise<ReadonlyMap<UnitId, number>> {
  const bounds = scales ? ({ min: 2, max: MOST_INSTANCES, scaling: "auto" } as const) : { min: first, max: MOST_INSTANCES };
  const pool = aPool("standard", { instances: bounds, capacity: CAPACITY });
  const mode = rebalances ? "auto" : "propose";
  await store.fleet.applyFleet(
    aFleet({ pools: [pool], rebalancing: [{ class: CLASS, mode, movesPerHour: 50, movesPerDay: 500 }] }),
    "ada",
    never,
  );
  const sizes = { standard: { instances: first, at, reason: "as many as there were" } };
  await store.loads.recordState(CLASS, { aboveSince: {}, overloadedSince: {}, sizes }, never);
  await reconcilePool("standard", never);
  for (const instance of await store.fleet.listInstances(never)) await become(store, instance, "ACTIVE");
  const serving = await store.fleet.listInstances(never);
  const world = createWorld(store);
  const units = new Map<UnitId, number>();
  for (let index = 0; index < workspaces; index += 1) {
    const { id } = await world.unit((await world.record({ namespace: `team-${index}` })).applicationId);
    await world.place(id, serving[index % serving.length]?.id as InstanceId);
    units.set(id, index);
  }
  return units;
}

/** The pool's rows, and what becomes of instances on a cluster: one is made within a step, and one that is empty is gone with the next. */
async function provision(store: MemoryStore, reconcilePool: Reconcile, now: Millis): Promise<void> {
  await reconcilePool("standard", never);
  const held = await store.fleet.countUnits(never);
  for (const instance of await store.fleet.listInstances(never)) {
    if (instance.state === "REQUESTED" && now - instance.stateSince >= STEP_MS) await become(store, instance, "ACTIVE");
    if (instance.state === "DRAINING" && !held.has(instance.id)) await become(store, instance, "RETIRED");
  }
}

async function become(store: MemoryStore, { id, revision }: Instance, state: InstanceState): Promise<void> {
  const change = { id, revision, state, reason: "", cause: undefined, attempt: 0, decision: aDecision({ subject: id }) };
  await store.fleet.changeInstance(change, never);
}

type Facts = Awaited<ReturnType<MemoryStore["plans"]["readFacts"]>>;
type DemandOf = (unit: UnitId) => number;

/** An instance that serves, and what it holds. */
interface Serving {
  readonly id: InstanceId;
  readonly units: readonly PlacementUnit[];
}

function servingOf({ instances, units }: Facts): readonly Serving[] {
  const held = Map.groupBy(units, ({ unit }) => unit.owner);
  return instances
    .filter(({ state }) => SERVES.includes(state))
    .map(({ id }) => ({ id, units: (held.get(id) ?? []).map(({ unit }) => unit) }));
}

/** One step of all queues. */
function wait(
  waits: Waits,
  serving: readonly Serving[],
  { of, dead }: { readonly of: DemandOf; readonly dead: Instance | undefined },
): void {
  for (const { id, units } of serving) {
    const asked = units.reduce((sum, unit) => sum + of(unit.id), 0);
    if (id === dead?.id) waits.stands(units.length, STEP_MS / 1_000);
    else waits.step(id, units.length, asked / INSTANCE_CPU, STEP_MS / 1_000);
  }
}

interface Measured {
  readonly serving: readonly Serving[];
  readonly loads: Map<UnitId, UnitLoad>;
  readonly at: Millis;
  readonly of: DemandOf;
}

/** What the sampler would record of each instance. */
async function measure(store: MemoryStore, { serving, loads, at, of }: Measured): Promise<void> {
  for (const { id, units: held } of serving) {
    let milliCpu = 0;
    const units = held.map((unit) => {
      const sample = Math.round(of(unit.id));
      const first = { ...ZERO_LOAD, milliCpu: sample };
      const known = loads.get(unit.id) ?? { planning: first, recent: first, at: millis(at - STEP_MS) };
      const load = nextLoad(known, { at, load: { milliCpu: sample } });
      loads.set(unit.id, load);
      milliCpu += sample;
      return { unitId: unit.id, epoch: unit.epoch, load, whole: wholeLoad(load.planning) };
    });
    const total = { ...ZERO_LOAD, milliCpu };
    await store.loads.recordSample({ instanceId: id, at, total, units, observation: undefined, cachedObjects: undefined }, never);
  }
}

/** One of those that serve. */
function pick(instances: readonly Instance[], part: number): Instance | undefined {
  const serving = instances.filter(({ state }) => state === "ACTIVE");
  return serving[Math.floor(part * serving.length)];
}

const ALL = 10_000_000;

async function countMoves(
  store: MemoryStore,
  { workspaces, days }: Pick<GrowingOptions, "workspaces" | "days">,
): Promise<Pick<GrowingFigures, "moves" | "perWorkspaceYear" | "again">> {
  const moved = (await store.decisions.list({ kind: "placement", verdict: "MOVED" }, ALL, never)).toReversed();
  const last = new Map<string, number>();
  let again = 0;
  for (const { subject, at, rule } of moved) {
    if (rule !== "FORCED" && at - (last.get(subject) ?? Number.NEGATIVE_INFINITY) < DAY_MS) again += 1;
    last.set(subject, at);
  }
  return { moves: moved.length, perWorkspaceYear: (moved.length / workspaces) * (365 / days), again };
}

async function countVerdicts(store: MemoryStore): Promise<Pick<GrowingFigures, "kept" | "broken" | "grown" | "shrunk">> {
  const verdicts = (await store.decisions.list({ kind: "plan" }, ALL, never)).map(({ verdict }) => verdict);
  const count = (verdict: string): number => verdicts.filter((each) => each === verdict).length;
  return { kept: count("KEPT"), broken: count("BROKEN"), grown: count("GROWN"), shrunk: count("SHRUNK") };
}
