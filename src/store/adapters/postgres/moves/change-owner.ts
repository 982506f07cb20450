import type { Decision } from "../../../../domain/decision.ts";
import type { Move } from "../../../../domain/move.ts";
import { WAITING_FOR_INSTANCE } from "../../../operation/messages.ts";
import type { Run, Statement } from "../database.ts";
import { type DecisionIds, decisionValues } from "../decisions.ts";
import { CLASS_OF_OWNER, TRUST_OF_CLASS } from "../placements/class-of-owner.ts";
import { PLACED_UNITS } from "../placements/placed-units.ts";

interface Change {
  readonly move: Move;
  readonly decision: Decision;
}

/** Whoever acknowledges one of these meanwhile is waited for, and seen by the next statement; whoever comes later finds it gone. */
const LOCK_OBJECTS: Statement = {
  name: "lock_live_move_objects",
  text: `
select o.subject
  from (select id from application where unit = $1 union all select $1 order by 1) as s
 cross join lateral (select subject from shard_object where subject = s.id order by kind, instance for update) as o`,
};

const COMMIT: Statement = {
  name: "commit_live_move",
  text: `
with placed as (
  update placement_unit u set owner = $1, epoch = $4, took_from = null, row_version = u.row_version + 1, unplaceable = null, ${CLASS_OF_OWNER}
    from instance i
   where u.id = $2 and u.owner = $5 and u.epoch = $3 and i.id = $1
  returning u.id, u.owner, u.epoch, u.desired_revision, u.class
), ${TRUST_OF_CLASS}, ${PLACED_UNITS}, dropped as (
  delete from shard_object o using (select id from wanted union all select id from placed) as s where o.subject = s.id and o.instance = $5
), log as (
  insert into unit_move (epoch, unit, class, from_instance, to_instance, reason, plan, at)
  select epoch, id, class, $5, $1, $14, coalesce($15, ''), $7 from placed
)
select n.sent, r.sent as reclassed from notifications n cross join reclassed r`,
};

/** The source keeps the unit under an epoch that is newer than the move's. */
const ABORT: Statement = {
  name: "abort_live_move",
  text: `
with placed as (
  update placement_unit set epoch = nextval('epoch_seq'), phase = 'IDLE', row_version = row_version + 1
   where id = $2 and owner = $1 and epoch = $3 and phase = 'MOVING' and epoch < $4 and owner <> $5
  returning id, owner, epoch, desired_revision
), ${PLACED_UNITS}
select sent from notifications`,
};

/** The target owns the unit of a move, which the caller holds the locks of. */
export async function commitLiveMove(run: Run, ids: DecisionIds, { move, decision }: Change): Promise<void> {
  await run(LOCK_OBJECTS, [move.unitId]);
  const values = [move.to, move.unitId, move.fromEpoch, move.toEpoch, move.from, ...decisionValues(ids, decision)];
  await run(COMMIT, [...values, WAITING_FOR_INSTANCE, move.reason, move.plan ?? null]);
}

/** The source owns the unit of a move again, as new as can be. */
export async function abortMove(run: Run, ids: DecisionIds, { move, decision }: Change): Promise<void> {
  await run(LOCK_OBJECTS, [move.unitId]);
  const values = [move.from, move.unitId, move.fromEpoch, move.toEpoch, move.to, ...decisionValues(ids, decision)];
  await run(ABORT, [...values, WAITING_FOR_INSTANCE]);
}
