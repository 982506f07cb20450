import type { ApplicationId } from "../../../../domain/ids.ts";
import type { DesiredApplication } from "../../../shard/port.ts";
import type { Database, Statement } from "../database.ts";
import { environmentOf, JOIN_ENVIRONMENT, type WithEnvironment } from "../environments/environment-row.ts";
import {
  APPLICATION,
  type ApplicationRow,
  applicationOf,
  OBJECT,
  type ObjectRow,
  objectOf,
  UNIT,
  type UnitRow,
  unitOf,
  WORKSPACE,
  type WorkspaceRow,
  workspaceOf,
} from "../rows.ts";
import { texts } from "../sql-values.ts";
import { UNIT_APPLIED_REVISION } from "./unit-applied-revision.ts";

const READ: Statement = {
  name: "read_applications",
  text: `
select ${APPLICATION},
       ${WORKSPACE},
       ${UNIT},
       ${OBJECT},
       ${UNIT_APPLIED_REVISION} as unit_applied_revision,
       e.environment
  from unnest($1::text[]) with ordinality as i (id, place)
 cross join lateral (select * from application where id = i.id offset 0) as a
 cross join lateral (select * from workspace where id = a.workspace offset 0) as w
 cross join lateral (select * from placement_unit where id = a.unit offset 0) as u
  left join lateral (select * from shard_object where subject = a.id and kind = 'application' and instance = u.owner and epoch = u.epoch offset 0) as o on true
 ${JOIN_ENVIRONMENT}
 order by i.place`,
};

type Row = ApplicationRow & WorkspaceRow & UnitRow & ObjectRow & WithEnvironment & { readonly unit_applied_revision: number };

export async function readApplications(
  database: Database,
  ids: readonly ApplicationId[],
  signal: AbortSignal,
): Promise<readonly DesiredApplication[]> {
  const rows = await database.run<Row>(READ, [texts(ids)], signal);
  return rows.map((row) => ({
    application: applicationOf(row),
    workspace: workspaceOf(row),
    unit: unitOf(row),
    unitAppliedRevision: row.unit_applied_revision,
    environment: row.environment === null ? undefined : environmentOf(row.environment),
    acknowledged: objectOf(row),
  }));
}
