import type { Millis } from "../../../domain/clock.ts";
import { NO_DIRECTIVE } from "../../../domain/directive.ts";
import { raisablePools, scaledPools } from "../../../domain/fleet.ts";
import type { UnitId } from "../../../domain/ids.ts";
import { LOAD_DIMENSIONS } from "../../../domain/load.ts";
import type { Move } from "../../../domain/move.ts";
import type { CarriedStep, StoredPlan } from "../../../domain/plan.ts";
import { freezeOfRollout } from "../../../domain/rollout.ts";
import { WAITING_FOR_INSTANCE } from "../../operation/messages.ts";
import type { FailedMove, MoveOutcome, PlanFacts, PlanStore, StepsOf, UnitFacts, UnitMove } from "../../plan/port.ts";
import { applicationsOf, objectKey, putUnit, workspaceOfTables } from "./applications.ts";
import { clustersOf } from "./environments.ts";
import { liveMoveOf, liveMovesOf } from "./live-moves.ts";
import { knownOf } from "./loads.ts";
import { changeViews, isApart, loadWith } from "./placements.ts";
import { liveOf } from "./rollouts.ts";
import type { MemoryUnitRow, Tables, Transact, Transaction } from "./tables.ts";

export function createMemoryPlanStore(transact: Transact): PlanStore {
  return {
    listClasses: (signal) =>
      transact(signal, ({ tables }) => {
        const instances = [...tables.instances.values()].filter(({ state }) => state !== "RETIRED");
        const units = [...tables.units.values()].map(({ unit }) => unit);
        return [...new Set([...instances, ...units].map((one) => one.class))].sort();
      }),
    readFacts: (className, movesSince, signal) => transact(signal, ({ tables }) => readFacts(tables, className, movesSince)),
    record: (plan, decision, signal) =>
      transact(signal, ({ tables }) => {
        tables.plans.set(plan.id, structuredClone(plan));
        tables.decisions.push(decision);
      }),
    read: (id, signal) => transact(signal, ({ tables }) => tables.plans.get(id)),
    list: (filter, limit, signal) =>
      transact(signal, ({ tables }) => {
        const wanted = [...tables.plans.values()].filter((plan) => filter.class === undefined || plan.class === filter.class);
        return wanted.sort((a, b) => b.createdAt - a.createdAt || (a.id > b.id ? -1 : 1)).slice(0, limit);
      }),
    recordApplied: (id, steps, decision, signal) =>
      transact(signal, ({ tables }) => {
        const plan = tables.plans.get(id);
        if (plan === undefined) return;
        tables.plans.set(id, { ...plan, appliedAt: decision.at });
        tables.planSteps.set(id, new Map([...(tables.planSteps.get(id) ?? []), ...steps.map((step) => [step.unit, step] as const)]));
        tables.decisions.push(decision);
      }),
    listSteps: (of, signal) => transact(signal, ({ tables }) => listSteps(tables, of)),
    commitMove: (move, signal) => transact(signal, (transaction) => commitMove(transaction, move)),
  };
}

function listSteps(tables: Tables, of: StepsOf): readonly CarriedStep[] {
  const isMeant = ({ id, goal, subject, createdAt }: StoredPlan): boolean =>
    "plan" in of ? id === of.plan : goal === "drain" && subject === of.drained && createdAt >= of.since;
  const plans = [...tables.plans.values()].filter(isMeant).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  const newest = new Map(plans.flatMap(({ id }) => [...(tables.planSteps.get(id) ?? [])]));
  return [...newest.values()].sort((a, b) => (a.unit < b.unit ? -1 : 1));
}

function readFacts(tables: Tables, className: string, movesSince: number): PlanFacts {
  const own = [...tables.instances.values()].filter((one) => one.class === className && one.state !== "RETIRED");
  const instances = own.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const units = [...tables.units.values()].filter(({ unit }) => unit.class === className);
  const moves = { movedAt: new Map(tables.unitMoves.map(({ unit, at }) => [unit, at])), live: liveMovesOf(tables) };
  return {
    class: className,
    floor: tables.fleet?.spec.versions.floor,
    scaled: scaledPools(tables.fleet?.spec.pools, className),
    raisable: raisablePools(tables.fleet?.spec.pools, className),
    rebalancing: tables.fleet?.spec.rebalancing?.find((each) => each.class === className),
    instances,
    units: units.toSorted((a, b) => (a.unit.id < b.unit.id ? -1 : 1)).map((row) => unitFacts(tables, row, moves)),
    instanceLoads: instances.flatMap(({ id }) => tables.instanceLoads.get(id) ?? []),
    freezes: [...[...tables.freezes.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), ...freezeOfRollout(liveOf(tables), instances)],
    state: tables.classLoads.get(className) ?? { aboveSince: {}, overloadedSince: {} },
    moves: tables.unitMoves
      .filter((move) => move.class === className && move.at >= movesSince)
      .map(({ unit, from, to, reason, at }) => ({ unit, from, to, reason, at }))
      .toReversed(),
    failures: failuresOf(tables, className, movesSince),
    verdicts: instances.flatMap(({ id }) => {
      const verdict = tables.verdicts.get(id);
      return verdict === undefined ? [] : [{ instanceId: id, state: verdict.state, at: verdict.at }];
    }),
  };
}

function failuresOf(tables: Tables, className: string, since: number): readonly FailedMove[] {
  const failed = [...tables.moves.values()].filter(({ unitId, phase, toEpoch, messageCode }) => {
    const isOwn = tables.units.get(unitId)?.unit.class === className;
    return isOwn && phase === "ABORTED" && toEpoch > 0 && messageCode !== "GIVEN_UP";
  });
  return failed
    .flatMap(({ unitId: unit, to, endedAt: at }) => (at !== undefined && at >= since ? [{ unit, to, at }] : []))
    .sort((a, b) => b.at - a.at);
}

/** By unit: when its last change of owner was made, and its live move. */
interface MovesOfUnits {
  readonly movedAt: ReadonlyMap<UnitId, Millis>;
  readonly live: ReadonlyMap<UnitId, Move>;
}

function unitFacts(tables: Tables, row: MemoryUnitRow, { movedAt, live }: MovesOfUnits): UnitFacts {
  const { unit } = row;
  const { namespace, trustClass, groups } = workspaceOfTables(tables, unit.workspaceId);
  const to = live.get(unit.id)?.to;
  return {
    unit,
    namespace,
    trustClass,
    ...(groups === undefined ? {} : { groups }),
    known: knownOf(tables, row),
    directive: tables.directives.get(unit.workspaceId) ?? NO_DIRECTIVE,
    clusters: clustersOf(tables, unit.id),
    movingTo: to === unit.owner ? undefined : to,
    movedAt: movedAt.get(unit.id),
    isDeployed: isDeployed(tables, row),
  };
}

function isDeployed(tables: Tables, { unit }: MemoryUnitRow): boolean {
  if (unit.tookFrom !== undefined || unit.joins !== undefined) return true;
  const stands = (subject: string): boolean => tables.objects.where("subject", subject).some(({ instanceId }) => instanceId === unit.owner);
  const applications = applicationsOf(tables, unit.id);
  const isHeld = applications.some(
    ({ application, status }) => status !== undefined || application.deletedAt !== undefined || stands(application.id),
  );
  if (isHeld || (applications.length > 0 && stands(unit.id))) return true;
  return tables.environments.where("workspace", unit.workspaceId).some(({ id }) => stands(id));
}

function commitMove(transaction: Transaction, move: UnitMove): MoveOutcome {
  const { tables, notify } = transaction;
  const row = tables.units.get(move.unitId);
  const target = tables.instances.get(move.to);
  if (row === undefined) return { kind: "stale" };
  if (target === undefined) return { kind: "full" };
  const { unit } = row;
  if (unit.owner !== move.from || unit.epoch !== move.epoch || liveMoveOf(tables, unit.id) !== undefined) return { kind: "stale" };
  if (isDeployed(tables, row)) return { kind: "deployed" };
  const load = loadWith(tables, move.to, unit);
  const fits = LOAD_DIMENSIONS.every((dimension) => load[dimension] <= move.ceiling[dimension]);
  if (target.state !== "ACTIVE" || !fits || !isApart(tables, unit, move.to)) return { kind: "full" };
  const epoch = ++tables.lastEpoch;
  for (const object of tables.objects.where("subject", unit.id))
    if (object.instanceId === move.from) tables.objects.drop(objectKey(object));
  putUnit(tables, { ...row, unit: { ...unit, owner: move.to, epoch, phase: "IDLE", rowVersion: unit.rowVersion + 1 } });
  const { from, to, reason, decision } = move;
  tables.unitMoves.push({ unit: unit.id, class: unit.class, from, to, reason, at: decision.at });
  tables.decisions.push(decision);
  notify("unit", unit.id);
  changeViews(transaction, unit.id, { instanceId: to, message: WAITING_FOR_INSTANCE });
  return { kind: "moved", epoch };
}
