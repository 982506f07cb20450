import type { ApplicationId } from "../../../../domain/ids.ts";
import type { DesiredApplication } from "../../../shard/port.ts";
import { UNIT_OBJECT_KINDS } from "../../../shard/unit-object-kinds.ts";
import type { Database, Statement } from "../database.ts";
import { environmentOf, JOIN_ENVIRONMENT, type WithEnvironment } from "../environments/environment-row.ts";
import { type AccessRow, JOIN_ACCESS, spelled } from "../repository-access/access-row.ts";
import {
  APPLICATION,
  type ApplicationRow,
  applicationOfRow,
  OBJECT,
  type ObjectRow,
  objectOfRow,
  UNIT,
  type UnitRow,
  unitOfRow,
  WORKSPACE,
  type WorkspaceRow,
  workspaceOfRow,
} from "../rows.ts";
import { texts } from "../sql-values.ts";

/** Expression: the lowest revision that the owner of unit `u` has acknowledged for the unit's objects, 0 while one is missing. */
export const UNIT_APPLIED_REVISION = `coalesce((
         select case when count(*) = ${UNIT_OBJECT_KINDS.length} then min(p.applied_revision) end
           from shard_object p
          where p.subject = u.id and p.instance = u.owner and p.epoch = u.epoch and p.kind in (${UNIT_OBJECT_KINDS.map((kind) => `'${kind}'`).join(", ")})), 0)`;

const READ: Statement = {
  name: "read_applications",
  text: `
select ${APPLICATION},
       ${WORKSPACE},
       ${UNIT},
       ${OBJECT},
       ${UNIT_APPLIED_REVISION} as unit_applied_revision,
       e.environment,
       ra.access
  from unnest($1::text[]) with ordinality as i (id, place)
 cross join lateral (select * from application where id = i.id offset 0) as a
 cross join lateral (select * from workspace where id = a.workspace offset 0) as w
 cross join lateral (select * from placement_unit where id = a.unit offset 0) as u
  left join lateral (select * from shard_object where subject = a.id and kind = 'application' and instance = u.owner and epoch = u.epoch offset 0) as o on true
 ${JOIN_ENVIRONMENT}
 ${JOIN_ACCESS}
 order by i.place`,
};

type Row = ApplicationRow &
  WorkspaceRow &
  UnitRow &
  ObjectRow &
  WithEnvironment & { readonly unit_applied_revision: number; readonly access: AccessRow | null };

export async function readApplications(
  database: Database,
  ids: readonly ApplicationId[],
  signal: AbortSignal,
): Promise<readonly DesiredApplication[]> {
  const rows = await database.run<Row>(READ, [texts(ids)], signal);
  return rows.map((row) => ({
    ...spelled(applicationOfRow(row), row.access),
    workspace: workspaceOfRow(row),
    unit: unitOfRow(row),
    unitAppliedRevision: row.unit_applied_revision,
    environment: row.environment === null ? undefined : environmentOf(row.environment),
    acknowledged: objectOfRow(row),
  }));
}
