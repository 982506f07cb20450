import type { Millis } from "../../../../domain/clock.ts";
import type { MoveId } from "../../../../domain/ids.ts";
import type { Move, MovePhase } from "../../../../domain/move.ts";
import { PHASES } from "../../../../domain/move-phases.ts";
import type { MoveAdvance } from "../../../move/port.ts";
import type { Run, Statement } from "../database.ts";
import { instant, sqlText } from "../sql-values.ts";

/** A new phase, from now on; what is said where it is not given stays. */
const ENTER: Statement = {
  name: "enter_move_phase",
  text: `
with entered as (
  update move
     set phase = $2, phase_since = $3, message = $4, message_code = $8, baseline = coalesce($5::json, baseline), ended_at = case when $6 then $3::timestamptz end,
         marks = (marks::jsonb || jsonb_build_object('phase', $2::text, 'at', $7::bigint))::json
   where id = $1
  returning id
)
select count(pg_notify('argosy', 'move:' || id)) as sent from entered`,
};

const FREE_UNIT: Statement = {
  name: "free_moved_unit",
  text: `
with freed as (
  update placement_unit set phase = 'IDLE', row_version = row_version + 1 where id = $1 and phase = 'MOVING' returning id
)
select count(pg_notify('argosy', n.notification)) as sent
  from (select 'unit:' || id from freed union all select 'application:' || a.id from freed f join application a on a.unit = f.id) as n (notification)`,
};

type Entering = Omit<MoveAdvance, "from"> & { readonly to: MovePhase };

/** Puts a move, which the caller holds the lock of, into a phase. */
export function enterPhase(
  run: Run,
  id: MoveId,
  { to, message, messageCode, baseline }: Entering,
  now: Millis,
): Promise<readonly unknown[]> {
  const kept = baseline === undefined ? null : JSON.stringify(baseline);
  return run(ENTER, [id, to, instant(now), sqlText(message), kept, !PHASES[to].isLive, now, messageCode ?? null]);
}

/** The same of one that may have held its unit, and gives it back with that. */
export async function enterAndFree(run: Run, { id, phase, unitId }: Move, entering: Entering, now: Millis): Promise<void> {
  await enterPhase(run, id, entering, now);
  if (PHASES[phase].holdsUnit && !PHASES[entering.to].holdsUnit) await run(FREE_UNIT, [unitId]);
}
