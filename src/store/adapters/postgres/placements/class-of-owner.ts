import type { UnitId } from "../../../../domain/ids.ts";
import type { Database, Statement } from "../database.ts";

/**
 * What a unit `u` with an instance `i` as its owner has as its class, and its workspace as its trust: as an assignment of `update`, and as a common
 * table expression after one that is called `placed` (id, class). `reclassed` notifies of units that had another class before the statement, and
 * has to be read from to do so.
 */
export const CLASS_OF_OWNER = "class = i.class, wanted_class = nullif(u.wanted_class, i.class)";
export const TRUST_OF_CLASS = `trusted as (
  update workspace w set trust_class = split_part(p.class, '/', 3) from placed p join placement_unit n on n.id = p.id
   where w.id = n.workspace and w.trust_class <> split_part(p.class, '/', 3)
), reclassed as materialized (
  select count(pg_notify('argosy', 'class:' || b.workspace)) as sent from placed p join placement_unit b on b.id = p.id where b.class <> p.class
)`;

/** A program of before has handed it over, and left its class as it was. */
const TAKE: Statement = {
  name: "take_class_of_owner",
  text: `
with placed as (
  update placement_unit u set ${CLASS_OF_OWNER}, row_version = u.row_version + 1
    from instance i where u.id = $1 and i.id = u.owner and i.class <> u.class
  returning u.id, u.class
), ${TRUST_OF_CLASS}
select sent from reclassed`,
};

export async function takeClassOfOwner(database: Database, unitId: UnitId, signal: AbortSignal): Promise<void> {
  await database.run(TAKE, [unitId], signal);
}
