import type { InstanceId, UnitId } from "../../../domain/ids.ts";
import type { Move } from "../../../domain/move.ts";
import type { Tables } from "./tables.ts";

/** Units that live moves take to an instance: room is kept for them. */
export function arrivingAt(tables: Tables, instanceId: InstanceId): readonly UnitId[] {
  const live = [...tables.moves.values()].filter(({ endedAt, to }) => endedAt === undefined && to === instanceId);
  return live.map(({ unitId }) => unitId);
}

export function liveMoveOf(tables: Tables, unitId: UnitId): Move | undefined {
  return [...tables.moves.values()].find((move) => move.unitId === unitId && move.endedAt === undefined);
}

/** How many units an instance has something of: it holds them, or live moves bring them or take them away. */
export function unitsAt(tables: Tables, instanceId: InstanceId): number {
  const held = tables.units.where("owner", instanceId).map(({ unit }) => unit.id);
  const live = [...tables.moves.values()].filter(({ endedAt, from, to }) => endedAt === undefined && [from, to].includes(instanceId));
  return new Set([...held, ...live.map(({ unitId }) => unitId)]).size;
}
