import type { Clock } from "../../../domain/clock.ts";
import type { MoveId } from "../../../domain/ids.ts";
import { WAITING_FOR_INSTANCE } from "../../operation/messages.ts";
import type { RecoveredOwner, RecoveryStore, UnitToRecover } from "../../recovery/port.ts";
import type { Database, Run, Statement } from "./database.ts";
import { type DecisionIds, decisionValues } from "./decisions.ts";
import { enterPhase } from "./moves/enter-phase.ts";
import { PLACED_UNITS } from "./placements/placed-units.ts";
import { sqlText } from "./sql-values.ts";

const LAST_EPOCH: Statement = {
  name: "read_last_epoch",
  text: "select case when is_called then last_value else last_value - 1 end as last from epoch_seq",
};

const RAISE: Statement = {
  name: "raise_epochs",
  text: "select setval('epoch_seq', $1) from epoch_seq where last_value < $1",
};

const PLACED: Statement = {
  name: "list_placed_units",
  text: `
select u.id, w.namespace, u.bucket, u.owner, u.epoch, u.phase
  from placement_unit u join workspace w on w.id = u.workspace
 where u.id > $1 and u.owner is not null
 order by u.id
 limit $2`,
};

/** Locks the unit of what follows, and says whether it is as it was read. */
const LOCK: Statement = {
  name: "lock_recovered_unit",
  text: "select id from placement_unit where id = $1 and epoch = $2 and owner = $3 and phase = $4 for no key update",
};

const LIVE_MOVE: Statement = {
  name: "lock_live_move_of_unit",
  text: "select id from move where unit = $1 and ended_at is null for update",
};

const RECORD_OWNER: Statement = {
  name: "record_recovered_owner",
  text: `
with placed as (
  update placement_unit set owner = $1, epoch = nextval('epoch_seq'), phase = 'IDLE', row_version = row_version + 1
   where id = $2 and epoch = $3 and owner = $4 and phase = $5
  returning id, owner, epoch, desired_revision
), ${PLACED_UNITS}, dropped as (
  delete from shard_object o using (select id from wanted union all select id from placed) as s where o.subject = s.id and o.instance <> $1
)
select sent from notifications`,
};

export function createRecoveryStore(database: Database, clock: Clock, ids: DecisionIds): RecoveryStore {
  return {
    async readLastEpoch(signal) {
      const [row] = await database.run<{ readonly last: number }>(LAST_EPOCH, [], signal);
      return row?.last ?? 0;
    },
    raiseEpochs: async (above, signal) => void (await database.run(RAISE, [above], signal)),
    listPlaced: ({ after, limit }, signal) => database.run<UnitToRecover>(PLACED, [sqlText(after), limit], signal),
    recordOwner: (change, signal) =>
      database.transaction("record_recovered_owner", (run) => recordOwner(run, { change, clock, ids }), signal),
  };
}

interface Work {
  readonly change: RecoveredOwner;
  readonly clock: Clock;
  readonly ids: DecisionIds;
}

async function recordOwner(run: Run, { change: { unit, owner, message, decision }, clock, ids }: Work): Promise<boolean> {
  if ((await run(LOCK, [unit.id, unit.epoch, unit.owner, unit.phase])).length === 0) return false;
  const [move] = await run<{ readonly id: MoveId }>(LIVE_MOVE, [unit.id]);
  if (move !== undefined) await enterPhase(run, move.id, { to: "ABORTED", message }, clock.now());
  await run(RECORD_OWNER, [owner, unit.id, unit.epoch, unit.owner, unit.phase, ...decisionValues(ids, decision), WAITING_FOR_INSTANCE]);
  return true;
}
