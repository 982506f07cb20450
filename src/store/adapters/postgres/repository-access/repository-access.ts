import { millis } from "../../../../domain/clock.ts";
import type { WorkspaceId } from "../../../../domain/ids.ts";
import type { RepositoryCredential } from "../../../../domain/repository-credential.ts";
import type { RepositoryAccessStore, WorkspaceRepositories } from "../../../repository-access/port.ts";
import type { Database, Statement } from "../database.ts";
import { REPOSITORY_CREDENTIAL } from "../rows.ts";
import { instant } from "../sql-values.ts";
import { type AccessRow, accessJson, accessOf } from "./access-row.ts";
import { confirmAccess, recordAccess } from "./record-access.ts";

const READ: Statement = {
  name: "read_repositories_of_workspace",
  text: `
select w.id as "workspaceId", w.api_cluster as "apiCluster", w.namespace,
       (select coalesce(json_agg(json_build_object('url', n.url, 'access', case when r.url is not null then ${accessJson("r")} end) order by n.url collate "C"), '[]'::json)
          from (select distinct a.repo_url as url from application a where a.unit in (select id from placement_unit where workspace = w.id) and a.deleted_at is null) as n
          left join repository_access r on r.workspace = w.id and r.url = n.url) as repositories,
       (select coalesce(json_agg(${REPOSITORY_CREDENTIAL} order by r.id), '[]'::json) from repository_credential r where r.workspace = w.id) as credentials
  from workspace w
 where w.id = $1`,
};

/** A page first, and then each workspace of it by itself: an `exists` would be answered by going through the applications of all. */
const LIST_DUE: Statement = {
  name: "list_repositories_due",
  text: `
select w.id as "workspaceId", d.due > 0 as "isDue"
  from (select id from workspace where api_cluster = $1 and state = 'active' and id > $4 order by id limit $3) as w
 cross join lateral (
   select count(*) as due
     from (select from application a left join repository_access r on r.workspace = a.workspace and r.url = a.repo_url
            where a.workspace = w.id and a.deleted_at is null
              and (r.url is null or r.state <> 'proven' or r.refusals > 0 or r.probed_at is null or r.probed_at < $2)
            limit 1) as a) as d
 order by w.id`,
};

const READ_OVERDUE: Statement = {
  name: "read_overdue_proofs",
  text: `
select count(*)::integer as count, (extract(epoch from min(r.probed_at)) * 1000)::float8 as since
  from repository_access r
  join workspace w on w.id = r.workspace
 where r.state = 'proven' and r.probed_at < $1 and w.state = 'active'`,
};

interface Row extends Pick<WorkspaceRepositories, "workspaceId" | "apiCluster" | "namespace"> {
  readonly repositories: readonly { readonly url: string; readonly access: AccessRow | null }[];
  readonly credentials: readonly RepositoryCredential[];
}

export function createRepositoryAccessStore(database: Database): RepositoryAccessStore {
  return {
    async readRepositories(workspaceId, signal) {
      const [row] = await database.run<Row>(READ, [workspaceId], signal);
      if (row === undefined) return undefined;
      const repositories = row.repositories.map(({ url, access }) => ({ url, access: access === null ? undefined : accessOf(access) }));
      return { ...row, repositories };
    },
    listDue: ({ apiCluster, before }, { limit, after }, signal) =>
      database.run<{ readonly workspaceId: WorkspaceId; readonly isDue: boolean }>(
        LIST_DUE,
        [apiCluster, instant(before), limit, after],
        signal,
      ),
    async readOverdue(before, signal) {
      const [row] = await database.run<{ readonly count: number; readonly since: number | null }>(READ_OVERDUE, [instant(before)], signal);
      const since = row?.since ?? undefined;
      return { count: row?.count ?? 0, ...(since === undefined ? {} : { since: millis(Math.round(since)) }) };
    },
    record: (record, signal) => recordAccess(database, record, signal),
    confirm: (confirmed, signal) => confirmAccess(database, confirmed, signal),
  };
}
