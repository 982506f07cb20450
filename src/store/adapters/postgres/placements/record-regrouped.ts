import type { InstanceId, UnitId } from "../../../../domain/ids.ts";
import type { Database, Statement } from "../database.ts";
import { isApart, lockPlacement } from "./placed-units.ts";

const OWNER: Statement = { name: "read_owner_of_regrouped", text: "select owner from placement_unit where id = $1 and is_regrouped" };

const RECORD: Statement = {
  name: "record_regrouped",
  text: `update placement_unit u set is_regrouped = false where u.id = $2 and u.owner = $1 and ${isApart("$1")}`,
};

/**
 * Whoever is on their way to the instance holds its lock, and has read the groups as they were: they are waited for, and seen by the next statement. Who
 * comes later reads the groups as they are.
 */
export function recordRegrouped(database: Database, id: UnitId, signal: AbortSignal): Promise<void> {
  return database.transaction(
    "record_regrouped",
    async (run) => {
      const [row] = await run<{ readonly owner: InstanceId | null }>(OWNER, [id]);
      if (row?.owner === undefined || row.owner === null) return;
      if ((await lockPlacement(run, row.owner, id)).kind === "locked") await run(RECORD, [row.owner, id]);
    },
    signal,
  );
}
