import { WAITING_FOR_INSTANCE } from "../../../operation/messages.ts";
import type { FirstPlacement, PlacementOutcome } from "../../../placement/port.ts";
import type { Database, Statement } from "../database.ts";
import { type DecisionIds, decisionValues } from "../decisions.ts";
import { loadValues } from "../rows.ts";
import { numbers } from "../sql-values.ts";
import { FITS, HELD, lockPlacement, PLACED_UNITS } from "./placed-units.ts";

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
), ${PLACED_UNITS}
select (select count(*) from unit) as candidates, (select epoch from placed) as epoch from notifications`,
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
      const placement = await lockPlacement(run, instanceId, unitId);
      if (placement.kind !== "locked") return { kind: placement.kind };
      const limits = numbers(loadValues(ceiling));
      const [row] = await run<Row>(COMMIT, [
        instanceId,
        unitId,
        rowVersion,
        placement.state,
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
