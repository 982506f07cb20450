import { WAITING_FOR_INSTANCE } from "../../../operation/messages.ts";
import type { MoveOutcome, UnitMove } from "../../../plan/port.ts";
import type { Database, Statement } from "../database.ts";
import { type DecisionIds, decisionValues } from "../decisions.ts";
import { FITS, HELD, lockPlacement, PLACED_UNITS } from "../placements/placed-units.ts";
import { loadValues } from "../rows.ts";
import { instant, numbers } from "../sql-values.ts";
import { IS_DEPLOYED } from "./read-facts.ts";

/** Whoever acknowledges one of these meanwhile is waited for, and seen by the next statement; whoever comes later finds it gone. */
const LOCK_OBJECTS: Statement = {
  name: "lock_move_objects",
  text: `
select o.subject
  from (select id from application where unit = $1 union all select $1 order by 1) as s
 cross join lateral (select subject from shard_object where subject = s.id and instance = $2 order by kind for update) as o`,
};

const COMMIT: Statement = {
  name: "commit_move",
  text: `
with ${HELD}, unit as materialized (
  select u.*, ${IS_DEPLOYED} as is_deployed from placement_unit u
   where u.id = $2 and u.owner = $14 and u.epoch = $3 and not exists (select from move m where m.unit = u.id and m.ended_at is null)
), placed as (
  update placement_unit u
     set owner = $1, epoch = nextval('epoch_seq'), phase = 'IDLE', row_version = u.row_version + 1
    from unit n cross join held h
   where u.id = n.id and not n.is_deployed and ${FITS}
  returning u.id, u.owner, u.epoch, u.desired_revision, u.class
), ${PLACED_UNITS}, dropped as (
  delete from shard_object o using (select id from wanted union all select id from placed) as s where o.subject = s.id and o.instance = $14
), log as (
  insert into unit_move (epoch, unit, class, from_instance, to_instance, reason, plan, at) select epoch, id, class, $14, $1, $15, $16, $17 from placed
)
select (select count(*) from unit) as candidates, (select bool_or(is_deployed) from unit) as is_deployed, (select epoch from placed) as epoch from notifications`,
};

interface Row {
  readonly candidates: number;
  readonly is_deployed: boolean | null;
  readonly epoch: number | null;
}

export function commitMove(database: Database, ids: DecisionIds, move: UnitMove, signal: AbortSignal): Promise<MoveOutcome> {
  const { unitId, from, to, epoch, reason, ceiling, plan, decision } = move;
  return database.transaction<MoveOutcome>(
    "commit_move",
    async (run) => {
      const placement = await lockPlacement(run, to, unitId);
      if (placement.kind !== "locked") return { kind: placement.kind };
      await run(LOCK_OBJECTS, [unitId, from]);
      const about = [to, unitId, epoch, placement.state, numbers(loadValues(ceiling)), ...decisionValues(ids, decision)];
      const [row] = await run<Row>(COMMIT, [...about, WAITING_FOR_INSTANCE, from, reason, plan, instant(decision.at)]);
      if (row?.epoch !== undefined && row.epoch !== null) return { kind: "moved", epoch: row.epoch };
      if (row?.candidates !== 1) return { kind: "stale" };
      return { kind: row.is_deployed === true ? "deployed" : "full" };
    },
    signal,
  );
}
