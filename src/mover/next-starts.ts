import type { InstanceId } from "../domain/ids.ts";
import type { Move, MoveKind } from "../domain/move.ts";
import { PHASES } from "../domain/move-phases.ts";

/** How many moves may be under way at once: with one instance at either end, and in the whole fleet. */
export interface AtOnce {
  readonly instance: number;
  readonly fleet: number;
}

/** What disturbs nobody much; a drain has somewhere to get to, and an evacuation is for users who have no owner that works. */
export const AT_ONCE: Readonly<Record<MoveKind, AtOnce>> = {
  voluntary: { instance: 2, fleet: 20 },
  drain: { instance: 8, fleet: 20 },
  evacuation: { instance: 32, fleet: 32 },
};

type Waiting = Pick<Move, "id" | "phase" | "kind" | "from" | "to" | "createdAt">;

/**
 * Which waiting moves may begin beside those that are under way, the urgent ones first, then the oldest. One that may not does not hold up
 * those behind it.
 */
export function nextStarts<M extends Waiting>(live: readonly M[], atOnce: Readonly<Record<MoveKind, AtOnce>> = AT_ONCE): readonly M[] {
  const busy = new Map<InstanceId, number>();
  const count = ({ from, to }: Waiting): void => [from, to].forEach((id) => void busy.set(id, (busy.get(id) ?? 0) + 1));
  const underWay = live.filter(({ phase }) => PHASES[phase].isUnderWay);
  underWay.forEach(count);
  const begun: M[] = [];
  for (const move of live.filter(({ phase }) => phase === "WAITING").sort(inTurn)) {
    const { instance, fleet } = atOnce[move.kind];
    const isFull = [move.from, move.to].some((id) => (busy.get(id) ?? 0) >= instance);
    if (isFull || underWay.length + begun.length >= fleet) continue;
    begun.push(move);
    count(move);
  }
  return begun;
}

const URGENCY: Readonly<Record<MoveKind, number>> = { evacuation: 0, drain: 1, voluntary: 2 };

function inTurn(a: Waiting, b: Waiting): number {
  return URGENCY[a.kind] - URGENCY[b.kind] || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}
