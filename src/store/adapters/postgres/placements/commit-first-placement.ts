import { WAITING_FOR_INSTANCE } from "../../../operation/messages.ts";
import type { FirstPlacement, PlacementOutcome } from "../../../placement/port.ts";
import type { Database, Statement } from "../database.ts";
import { loadValues } from "../rows.ts";
import { numbers } from "../sql-values.ts";
import { type DecisionIds, decisionValues } from "../views/decisions.ts";
import { FITS, HELD, SEATED } from "./seating.ts";

/**
 * The instance's lock makes placements on it take turns, the unit's keeps its applications as they are. Taken in a statement
 * of its own: the next one then sees what those who held them before have done.
 */
const LOCK: Statement = {
  name: "lock_seat",
  text: "select i.state from instance i cross join placement_unit u where i.id = $1 and u.id = $2 for no key update of i, u",
};

const EXISTS: Statement = { name: "exists_unit", text: "select id from placement_unit where id = $1" };

const COMMIT: Statement = {
  name: "commit_first_placement",
  text: `
with ${HELD}, unit as materialized (
  select * from placement_unit where id = $2 and owner is null and row_version = $3
), placed as (
  update placement_unit u
     set owner = $1, epoch = nextval('epoch_seq'), phase = 'IDLE', row_version = u.row_version + 1, unplaceable = null
    from unit n cross join held h
   where u.id = n.id and ${FITS}
  returning u.id, u.owner, u.epoch, u.desired_revision
), ${SEATED}
select (select count(*) from unit) as candidates, (select epoch from placed) as epoch from hints`,
};

interface Row {
  readonly candidates: number;
  readonly epoch: number | null;
}

export function commitFirstPlacement(
  database: Database,
  ids: DecisionIds,
  placement: FirstPlacement,
  signal: AbortSignal,
): Promise<PlacementOutcome> {
  const { unitId, rowVersion, instanceId, ceiling, decision } = placement;
  return database.transaction<PlacementOutcome>(
    "commit_first_placement",
    async (run) => {
      const [seat] = await run<{ readonly state: string }>(LOCK, [instanceId, unitId]);
      if (seat === undefined) return (await run(EXISTS, [unitId])).length > 0 ? { kind: "full" } : { kind: "stale" };
      const limits = numbers(loadValues(ceiling));
      const [row] = await run<Row>(COMMIT, [
        instanceId,
        unitId,
        rowVersion,
        seat.state,
        limits,
        ...decisionValues(ids, decision),
        WAITING_FOR_INSTANCE,
      ]);
      if (row?.epoch !== undefined && row.epoch !== null) return { kind: "placed", epoch: row.epoch };
      return { kind: row?.candidates === 1 ? "full" : "stale" };
    },
    signal,
  );
}
