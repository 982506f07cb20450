import type { Millis } from "../../../../domain/clock.ts";
import type { MoveId } from "../../../../domain/ids.ts";
import { TAKEN_ON } from "../../../../domain/move-messages.ts";
import { PHASES } from "../../../../domain/move-phases.ts";
import type { MoveRequest, RequestedMove } from "../../../move/port.ts";
import type { Database, Run, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";
import { FITS, HELD, isKept, lockPlacement } from "../placements/placed-units.ts";
import { loadValues } from "../rows.ts";
import { numbers, sqlText } from "../sql-values.ts";
import { enterAndFree } from "./enter-phase.ts";
import { lockMove } from "./move-row.ts";

const REQUEST: Statement = {
  name: "request_move",
  text: `
with ${HELD}, live as materialized (
  select id from move where unit = $2 and ended_at is null
), unit as materialized (
  select u.*, ${isKept("$20::boolean")} as is_kept from placement_unit u where u.id = $2 and u.epoch = $3 and u.owner <> $1
), made as (
  insert into move (id, unit, from_instance, to_instance, from_epoch, phase, phase_since, kind, reason, plan, reverses, actor, created_at, marks, fail_over)
  select $13, u.id, u.owner, $1, u.epoch, 'WAITING', $7, $14, $15, $16, $17, $18, $7, json_build_array(json_build_object('phase', 'WAITING', 'at', $19::bigint)), $20
    from unit u cross join held h
   where not exists (select from live) and not u.is_kept and ${FITS}
  returning id
), journal as (
  insert into decision (${DECISION_COLUMNS})
  select $6, $7, $8, $9, $10, $11, $12::json from made
)
select (select id from live) as live, (select count(*) from unit) as candidates, (select bool_or(is_kept) from unit) as is_kept, (select count(*) from made) as made,
       (select count(pg_notify('argosy', 'move:' || id)) from made) as sent`,
};

/** A move that brought the unit to where it is, and that a fail-over from there would end; with whether that has somewhere to go. */
const BROUGHT: Statement = {
  name: "find_move_to_redirect",
  text: `
with ${HELD}
select m.id, ${FITS} as is_welcome
  from move m join placement_unit u on u.id = m.unit cross join held h
 where m.unit = $2 and m.ended_at is null and m.to_epoch = $3 and u.epoch = $3 and u.owner = m.to_instance and u.owner <> $1`,
};

interface Row {
  readonly live: MoveId | null;
  readonly candidates: number;
  readonly is_kept: boolean | null;
  readonly made: number;
}

export function insertMove(database: Database, ids: DecisionIds, requestedMove: RequestedMove, signal: AbortSignal): Promise<MoveRequest> {
  const { id, unitId, to, epoch, kind, reason, plan, reverses, isFailOver, actor, ceiling, decision } = requestedMove;
  return database.transaction<MoveRequest>(
    "request_move",
    async (run) => {
      const placement = await lockPlacement(run, to, unitId);
      if (placement.kind !== "locked") return { kind: placement.kind };
      const placements = [to, unitId, epoch, placement.state, numbers(loadValues(ceiling))];
      if (isFailOver && !(await redirect(run, placements, decision.at))) return { kind: "full" };
      const about = [...placements, ...decisionValues(ids, decision)];
      const what = [id, kind, reason, plan ?? null, reverses ?? null, sqlText(actor), decision.at, isFailOver];
      const [row] = await run<Row>(REQUEST, [...about, ...what]);
      return requestOf(row, id);
    },
    signal,
  );
}

/** False: another move would have to be ended for this one, and the target has no capacity for what follows. */
async function redirect(run: Run, placements: readonly unknown[], now: Millis): Promise<boolean> {
  const [brought] = await run<{ readonly id: MoveId; readonly is_welcome: boolean }>(BROUGHT, placements);
  const move = brought && (await lockMove(run, brought.id));
  if (move === undefined || !PHASES[move.phase].next.includes("REDIRECTED")) return true;
  if (brought?.is_welcome === true) await enterAndFree(run, move, { to: "REDIRECTED", message: TAKEN_ON }, now);
  return brought?.is_welcome === true;
}

function requestOf(row: Row | undefined, id: MoveId): MoveRequest {
  // The same request may have been recorded before, and the answer lost.
  if (row?.made === 1 || row?.live === id) return { kind: "requested" };
  if (row?.live !== undefined && row.live !== null) return { kind: "moving", id: row.live };
  if (row?.is_kept === true) return { kind: "kept" };
  return { kind: row?.candidates === 1 ? "full" : "stale" };
}
