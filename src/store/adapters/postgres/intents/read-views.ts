import type { Blockage } from "../../../../domain/blockage.ts";
import type { ApplicationId } from "../../../../domain/ids.ts";
import type { UserView } from "../../../intent/port.ts";
import type { Database, Statement } from "../database.ts";
import { environmentOf, JOIN_ENVIRONMENT, type WithEnvironment } from "../environments/environment-row.ts";
import { type AccessRow, accessOf, JOIN_ACCESS } from "../repository-access/access-row.ts";
import {
  APPLICATION,
  type ApplicationRow,
  applicationOfRow,
  STATUS,
  type StatusRow,
  statusOf,
  WORKSPACE,
  type WorkspaceRow,
  workspaceOfRow,
} from "../rows.ts";
import { texts } from "../sql-values.ts";

const readBy = (column: "uid" | "id"): Statement => ({
  name: `read_views_by_${column}`,
  text: `
select ${APPLICATION},
       ${WORKSPACE},
       ${STATUS},
       u.owner, u.epoch, u.phase, u.unplaceable is not null as is_unplaceable, s.blockage, o.message as trouble, s.published_hash, s.view_revision,
       e.environment,
       ra.access
  from unnest($1::text[]) with ordinality as i (wanted, place)
 cross join lateral (select * from application where ${column} = i.wanted offset 0) as a
 cross join lateral (select * from workspace where id = a.workspace offset 0) as w
 cross join lateral (select * from placement_unit where id = a.unit offset 0) as u
 cross join lateral (select * from application_status where application = a.id offset 0) as s
  left join lateral (
    select message from operation where subject = a.id and state <> 'Completed' and is_trouble limit 1) as o on true
 ${JOIN_ENVIRONMENT}
 ${JOIN_ACCESS}
 order by i.place`,
});

const BY_UID = readBy("uid");
const BY_ID = readBy("id");

type ViewRow = ApplicationRow &
  WorkspaceRow &
  StatusRow &
  WithEnvironment & {
    readonly owner: UserView["unit"]["owner"] | null;
    readonly epoch: number;
    readonly phase: UserView["unit"]["phase"];
    readonly is_unplaceable: boolean;
    readonly access: AccessRow | null;
    readonly blockage: Blockage | null;
    readonly trouble: string | null;
    readonly published_hash: string;
    readonly view_revision: number;
  };

function viewOf(row: ViewRow): UserView {
  return {
    application: applicationOfRow(row),
    workspace: workspaceOfRow(row),
    unit: { owner: row.owner ?? undefined, epoch: row.epoch, phase: row.phase },
    isUnplaceable: row.is_unplaceable,
    environment: row.environment === null ? undefined : environmentOf(row.environment),
    status: statusOf(row),
    access: row.access === null ? undefined : accessOf(row.access),
    blockage: row.blockage ?? undefined,
    trouble: row.trouble ?? undefined,
    publishedHash: row.published_hash,
    viewRevision: row.view_revision,
  };
}

export async function readByUids(database: Database, uids: readonly string[], signal: AbortSignal): Promise<readonly UserView[]> {
  return (await database.run<ViewRow>(BY_UID, [texts(uids)], signal)).map(viewOf);
}

export async function readByIds(database: Database, ids: readonly ApplicationId[], signal: AbortSignal): Promise<readonly UserView[]> {
  return (await database.run<ViewRow>(BY_ID, [texts(ids)], signal)).map(viewOf);
}
