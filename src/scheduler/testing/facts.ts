import { type Millis, millis } from "../../domain/clock.ts";
import { NO_DIRECTIVE } from "../../domain/directive.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { PlanningFacts, PlanningUnit } from "../plan/assemble.ts";
import { HOUR_MS, NOON } from "./snapshots.ts";

const CLASS = "eu/shared/public";

/** An instance that has served for a month, with room for 1,000 in each dimension. */
export function aRow(name: string, over: Partial<Instance> = {}): Instance {
  return {
    ...{ id: `i-${name}` as InstanceId, name, engineCluster: "eu-1", namespace: `argosy-${name}`, pool: "standard", class: CLASS },
    ...{ version: "3.5.7", desiredVersion: "3.5.7", state: "ACTIVE", stateSince: millis(NOON - 720 * HOUR_MS), reason: "", attempt: 0 },
    ...{
      capacity: loadVector(() => 1000),
      weight: 1,
      appliedHash: "",
      cause: undefined,
      halt: "none",
      failsOver: false,
      entries: "shared",
      revision: 1,
    },
    ...over,
  };
}

/** A unit of a workspace of its own with so many thousandths of an application. */
export function aUnitRow(
  name: string,
  owner: string | undefined,
  load: number | LoadVector,
  over: Partial<PlanningUnit> = {},
): PlanningUnit {
  return {
    unit: {
      ...{
        id: `u-${name}` as UnitId,
        workspaceId: `w-${name}` as WorkspaceId,
        bucket: 0,
        class: CLASS,
        epoch: owner === undefined ? 0 : 7,
      },
      owner: owner === undefined ? undefined : (`i-${owner}` as InstanceId),
      phase: owner === undefined ? "UNPLACED" : "IDLE",
      load: typeof load === "number" ? { ...ZERO_LOAD, applications: load } : load,
      ...{ desiredRevision: 1, rowVersion: 1 },
    },
    ...{
      namespace: name,
      trustClass: "public",
      known: undefined,
      directive: NO_DIRECTIVE,
      clusters: [],
      movingTo: undefined,
      movedAt: undefined,
      isDeployed: false,
    },
    ...over,
  };
}

export function unitRows(owner: string, count: number, each: number, over: Partial<PlanningUnit> = {}): readonly PlanningUnit[] {
  return Array.from({ length: count }, (_, index) => aUnitRow(`${owner}-${String(index).padStart(2, "0")}`, owner, each, over));
}

/** Facts in which every instance has just reported a load. */
export function aFacts(instances: readonly Instance[], units: readonly PlanningUnit[], over: Partial<PlanningFacts> = {}): PlanningFacts {
  return {
    ...{ class: CLASS, floor: "3.5.1" },
    ...{ instances, units, instanceLoads: instances.map(({ id }) => aReport(id, NOON)), freezes: [] },
    ...{ state: { aboveSince: {}, overloadedSince: {} }, moves: [], failures: [], verdicts: [] },
    ...over,
  };
}

export function aReport(
  instanceId: InstanceId,
  at: Millis,
  total: LoadVector = loadVector(() => 500),
): PlanningFacts["instanceLoads"][number] {
  return { instanceId, at, total, observation: undefined };
}

/** Facts in which this instance has been above the bound for hours. */
export function longAbove(name: string): Pick<PlanningFacts, "state"> {
  return { state: { aboveSince: { [`i-${name}`]: millis(NOON - 13 * HOUR_MS) }, overloadedSince: {} } };
}
