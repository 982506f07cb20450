import type { UnitId } from "../../../../domain/ids.ts";
import type { DesiredUnit } from "../../../shard/port.ts";
import type { Database, Statement } from "../database.ts";
import { OBJECT, type ObjectRow, objectOf, UNIT, type UnitRow, unitOf, WORKSPACE, type WorkspaceRow, workspaceOf } from "../rows.ts";

/** One picture of all three: the unit's row would not change with what others record meanwhile, the lists would. */
const READ: Statement = {
  name: "read_unit",
  text: `
select ${UNIT},
       ${WORKSPACE},
       array(select distinct a.repo_url from application a where a.unit = u.id order by a.repo_url)::text[] as repo_urls,
       (select count(*) from application a where a.unit = u.id) as applications,
       ${OBJECT}
  from placement_unit u
  join workspace w on w.id = u.workspace
  left join lateral (select * from shard_object where subject = u.id and applied_revision > 0 offset 0) as o on true
 where u.id = $1
 order by o.kind, o.instance`,
};

type Row = UnitRow & WorkspaceRow & ObjectRow & { readonly repo_urls: readonly string[]; readonly applications: number };

export async function readUnit(database: Database, id: UnitId, signal: AbortSignal): Promise<DesiredUnit | undefined> {
  const rows = await database.run<Row>(READ, [id], signal);
  const [first] = rows;
  if (first === undefined) return undefined;
  const { repo_urls: repoUrls, applications } = first;
  return {
    unit: unitOf(first),
    workspace: workspaceOf(first),
    repoUrls,
    applications,
    acknowledged: rows.flatMap((row) => objectOf(row) ?? []),
  };
}
