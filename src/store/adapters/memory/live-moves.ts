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
