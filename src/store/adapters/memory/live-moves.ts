import type { InstanceId, UnitId } from "../../../domain/ids.ts";
import type { Move, MovePhase } from "../../../domain/move.ts";
import { PHASES } from "../../../domain/move-phases.ts";
import type { MoveAdvance } from "../../move/port.ts";
import type { Tables, Transaction } from "./tables.ts";

/** Units that live moves take to an instance: capacity is reserved for them. */
export function arrivingAt(tables: Tables, instanceId: InstanceId): readonly UnitId[] {
  const live = [...tables.moves.values()].filter(({ endedAt, to }) => endedAt === undefined && to === instanceId);
  return live.map(({ unitId }) => unitId);
}

export function liveMoveOf(tables: Tables, unitId: UnitId): Move | undefined {
  for (const move of tables.moves.values()) if (move.unitId === unitId && move.endedAt === undefined) return move;
  return undefined;
}

/** Live moves by unit; a unit has one at most. */
export function liveMovesOf(tables: Tables): ReadonlyMap<UnitId, Move> {
  return new Map([...tables.moves.values()].flatMap((move) => (move.endedAt === undefined ? [[move.unitId, move] as const] : [])));
}

/** How many units an instance has something of: it holds them, or live moves bring them or take them away. */
export function unitsAt(tables: Tables, instanceId: InstanceId): number {
  const held = tables.units.where("owner", instanceId).map(({ unit }) => unit.id);
  const live = [...tables.moves.values()].filter(({ endedAt, from, to }) => endedAt === undefined && [from, to].includes(instanceId));
  return new Set([...held, ...live.map(({ unitId }) => unitId)]).size;
}

type Entering = Omit<MoveAdvance, "from"> & { readonly to: MovePhase };

/** Puts a move into a phase. */
export function enterPhaseInMemory(
  { tables, notify, now }: Transaction,
  move: Move,
  { to, message, messageCode, baseline }: Entering,
): void {
  const at = now();
  tables.moves.set(move.id, {
    ...move,
    phase: to,
    phaseSince: at,
    message,
    messageCode,
    baseline: baseline ?? move.baseline,
    marks: [...move.marks, { phase: to, at }],
    endedAt: PHASES[to].isLive ? undefined : at,
  });
  notify("move", move.id);
}
