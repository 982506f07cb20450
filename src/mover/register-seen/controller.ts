import { StaleError } from "../../domain/errors.ts";
import type { Move } from "../../domain/move.ts";
import { newerFence } from "../../shard/diff-object.ts";
import type { DesiredObject } from "../../shard/managed-object.ts";
import { unitOf } from "../../shard/parse-application.ts";
import type { RegisterSight } from "../../shard/parse-sight.ts";
import { isBorneOutBy } from "../../shard/tampering.ts";
import type { Store } from "../../store/port.ts";

/** What of a register that was seen is believed. Throws `StaleError` where the move has gone on since its row was read. */
export type Believed = (
  move: Move,
  granted: DesiredObject,
  seen: RegisterSight | undefined,
  signal: AbortSignal,
) => Promise<RegisterSight | undefined>;

/**
 * A fence is written after the row it stands for: read after the register, a move that is where it was proves that nobody has a newer
 * one for its unit. Who forges it, in a namespace of his own, would otherwise keep the move from ever ending.
 */
export function createBelieved(store: Pick<Store, "moves" | "shards">): Believed {
  /** Read after the register too: what has the move's epoch and names somebody was granted since, or by hand. */
  const notLate = async ({ id, phase, toEpoch }: Move, { epoch, subjects }: RegisterSight, signal: AbortSignal): Promise<void> => {
    if (phase !== "REVOKE" || epoch !== toEpoch || subjects.length === 0) return;
    if ((await store.moves.read(id, signal))?.phase === phase) return;
    throw new StaleError("taking a right that was granted since", { code: "mover.fenced", context: { move: id } });
  };
  return async (move, granted, seen, signal) => {
    if (seen === undefined) return seen;
    await notLate(move, seen, signal);
    if (newerFence(granted.fence, seen) === undefined) return seen;
    const claimed = unitOf(seen);
    const other = claimed === undefined || claimed === move.unitId ? undefined : await store.shards.readUnit(claimed, signal);
    const now = await store.moves.read(move.id, signal);
    if (now?.phase !== move.phase || isBorneOutBy(other, seen)) return seen;
    return { ...seen, epoch: undefined, revision: undefined };
  };
}
