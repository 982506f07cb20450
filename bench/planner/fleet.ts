import { NO_DIRECTIVE } from "../../src/domain/directive.ts";
import type { InstanceId } from "../../src/domain/ids.ts";
import { type Instance, loadOn } from "../../src/domain/instance.ts";
import { addLoad, type LoadVector, loadVector, ZERO_LOAD } from "../../src/domain/load.ts";
import type { PlacementUnit } from "../../src/domain/workspace.ts";
import { planMoves } from "../../src/scheduler/plan/plan-moves.ts";
import type { FleetSnapshot, UnitWithWorkspace } from "../../src/store/placement/port.ts";
import type { PlanFacts, UnitFacts } from "../../src/store/plan/port.ts";
import { afterMoves, makeFleet, START, snapshotOf } from "../placement/fleets.ts";

export const CLASS = "eu/shared/public";

/** How many units an instance of the bench holds. */
const PER_INSTANCE = 200;
const DAY_MS = 24 * 3_600_000;
const UTILISATION = { applications: 0.6, cachedResources: 0.5, clusterEntries: 0.45, milliCpu: 0.6, gitPerMinute: 0.4 };

/** The facts of a class with so many units, evenly placed by the planner itself, measured a moment ago. Nothing of it is to be moved. */
export function factsOf(units: number): PlanFacts {
  const fleet = makeFleet({
    tail: "lognormal",
    workspaces: units,
    instances: Math.ceil(units / PER_INSTANCE),
    utilisation: UTILISATION,
    seed: 1,
  });
  const placed = afterMoves(fleet.units, planMoves(snapshotOf(fleet)).moves);
  const rows = placed.map(
    ({ id, workspaceId, owner, epoch, load }): UnitFacts => ({
      unit: {
        ...{ id, workspaceId, bucket: 0, class: CLASS, owner, epoch, phase: "IDLE", load, desiredRevision: 1, rowVersion: 1 },
      },
      ...{ namespace: workspaceId, trustClass: "public", known: { planning: load, recent: load, at: START }, directive: NO_DIRECTIVE },
      ...{ clusters: [], movingTo: undefined, movedAt: undefined, isDeployed: true },
    }),
  );
  const instances = fleet.candidates.map(({ id, weight, capacity }) => instanceOf(id, { weight, capacity }));
  return {
    ...{ class: CLASS, floor: undefined, rebalancing: undefined, scaled: [], raisable: [] },
    ...{ instances, units: rows.toSorted((a, b) => (a.unit.id < b.unit.id ? -1 : 1)) },
    instanceLoads: instances.map(({ id }) => ({
      instanceId: id,
      at: START,
      total: loadVector(() => 500_000),
      observation: undefined,
      cachedObjects: undefined,
    })),
    ...{ freezes: [], state: { aboveSince: {}, overloadedSince: {} }, moves: [], failures: [], verdicts: [] },
  };
}

/** An instance that has served for a month. */
export function instanceOf(id: string, over: Partial<Instance> = {}): Instance {
  return {
    ...{ id: id as InstanceId, name: id, engineCluster: "eu-1", namespace: `argosy-${id}`, pool: "standard", class: CLASS },
    ...{ version: "3.5.7", desiredVersion: "3.5.7", state: "ACTIVE", stateSince: START, reason: "", attempt: 0, weight: 1 },
    ...{ capacity: ZERO_LOAD, appliedHash: "", cause: undefined, halt: "none", failsOver: false, entries: "shared", revision: 1 },
    ...{ stateSince: (START - 30 * DAY_MS) as Instance["stateSince"] },
    ...over,
  };
}

/** What the instances hold, as the scheduler reads it. */
export function snapshotOfFacts(facts: PlanFacts): FleetSnapshot {
  const held = new Map<string, { load: LoadVector; units: number }>();
  for (const { unit } of facts.units) {
    if (unit.owner === undefined) continue;
    const known = held.get(unit.owner) ?? { load: ZERO_LOAD, units: 0 };
    held.set(unit.owner, { load: addLoad(known.load, unit.load), units: known.units + 1 });
  }
  return {
    class: facts.class,
    floor: facts.floor,
    instances: facts.instances.map((instance) => {
      const { load, units } = held.get(instance.id) ?? { load: ZERO_LOAD, units: 0 };
      return { instance, load: loadOn(instance, load, units), units };
    }),
  };
}

/** A unit of a workspace of its own that waits for its first instance, which takes this much. */
export function waitingUnit(index: number, load: LoadVector): UnitWithWorkspace {
  const name = `waiting-${String(index).padStart(6, "0")}`;
  const unit: PlacementUnit = {
    ...{ id: `u-${name}` as PlacementUnit["id"], workspaceId: `w-${name}` as PlacementUnit["workspaceId"], bucket: 0, class: CLASS },
    ...{ owner: undefined, epoch: 0, phase: "UNPLACED", load, desiredRevision: 1, rowVersion: 1 },
  };
  return {
    unit,
    workspace: {
      ...{ id: unit.workspaceId, plane: "kubernetes", apiCluster: "main", namespace: name, namespaceUid: `uid of ${name}` },
      ...{ trustClass: "public", state: "active" },
    },
    ...{ directive: NO_DIRECTIVE, siblings: [], strangers: [], companions: [] },
  };
}
