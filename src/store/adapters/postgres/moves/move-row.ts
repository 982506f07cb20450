import type { Millis } from "../../../../domain/clock.ts";
import type { InstanceId, MoveId, PlanId, UnitId } from "../../../../domain/ids.ts";
import type { Move, MoveMessageCode } from "../../../../domain/move.ts";
import type { Run, Statement } from "../database.ts";

/** Columns of a move `m`, as {@link moveOf} reads them. */
export const COLUMNS = `m.id, m.unit, m.from_instance, m.to_instance, m.from_epoch, m.to_epoch, m.phase, m.phase_since, m.kind, m.reason, m.plan,
       m.reverses, m.actor, m.created_at, m.ended_at, m.message, m.message_code, m.baseline, m.marks, m.fail_over`;

export interface MoveRow extends Pick<Move, "phase" | "kind" | "reason" | "actor" | "message" | "baseline" | "marks"> {
  readonly id: MoveId;
  readonly unit: UnitId;
  readonly from_instance: InstanceId;
  readonly to_instance: InstanceId;
  readonly from_epoch: number;
  readonly to_epoch: number | null;
  readonly phase_since: Millis;
  readonly plan: PlanId | null;
  readonly reverses: MoveId | null;
  readonly created_at: Millis;
  readonly ended_at: Millis | null;
  readonly fail_over: boolean;
  readonly message_code: MoveMessageCode | null;
}

export const READ: Statement = { name: "read_move", text: `select ${COLUMNS} from move m where m.id = $1` };

const listing = (name: string, scope: string): Statement => ({
  name,
  text: `
select ${COLUMNS} from move m
 where ${scope} and ($1::text is null or m.unit = $1) and ($2::text is null or m.plan = $2) and ($3::text is null or $3 in (m.from_instance, m.to_instance))
 order by m.created_at desc, m.id desc
 limit $4`,
});

/** The next of all live moves in the order of their ids, which no end of a move changes. */
export const LIST_ALL_LIVE: Statement = {
  name: "list_all_live_moves",
  text: `
select ${COLUMNS} from move m
 where m.ended_at is null and ($1::text is null or $1 in (m.from_instance, m.to_instance)) and m.id > $2
 order by m.id
 limit $3`,
};

/** Live moves are few among all that ever were, and have an index of their own, which a plan for both could not use. */
export const LIST_LIVE = listing("list_live_moves", "m.ended_at is null");
export const LIST = listing("list_moves", "true");

const LOCK_UNIT: Statement = {
  name: "lock_unit_of_move",
  text: "select id from placement_unit where id = (select unit from move where id = $1) for no key update",
};

const LOCK_MOVE: Statement = { name: "lock_move_row", text: `select ${COLUMNS} from move m where m.id = $1 for update` };

/** The move, for this transaction alone; its unit is locked before it, as everywhere. */
export async function lockMove(run: Run, id: MoveId): Promise<Move | undefined> {
  await run(LOCK_UNIT, [id]);
  const [row] = await run<MoveRow>(LOCK_MOVE, [id]);
  return row === undefined ? undefined : moveOf(row);
}

export function moveOf(row: MoveRow): Move {
  const { id, phase, kind, reason, actor, message, baseline, marks } = row;
  return {
    id,
    unitId: row.unit,
    from: row.from_instance,
    to: row.to_instance,
    fromEpoch: row.from_epoch,
    toEpoch: row.to_epoch ?? 0,
    phase,
    phaseSince: row.phase_since,
    kind,
    reason,
    actor,
    message,
    messageCode: row.message_code ?? undefined,
    baseline,
    marks,
    plan: row.plan ?? undefined,
    reverses: row.reverses ?? undefined,
    isFailOver: row.fail_over,
    createdAt: row.created_at,
    endedAt: row.ended_at ?? undefined,
  };
}
