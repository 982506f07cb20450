import type { UnitId } from "../../../../domain/ids.ts";
import type { RepositoryAccess } from "../../../../domain/repository-access.ts";
import type { RepositoryCredential } from "../../../../domain/repository-credential.ts";
import { spellingOf } from "../../../../domain/repository-spelling.ts";
import type { DesiredUnit } from "../../../shard/port.ts";
import type { Database, Statement } from "../database.ts";
import { type EnvironmentRow, environmentOf, UNIT_ENVIRONMENTS } from "../environments/environment-row.ts";
import {
  OBJECT,
  type ObjectRow,
  objectOfRow,
  REPOSITORY_CREDENTIAL,
  UNIT,
  type UnitRow,
  unitOfRow,
  WORKSPACE,
  type WorkspaceRow,
  workspaceOfRow,
} from "../rows.ts";

/** One picture of all three: the unit's row would not change with what others record meanwhile, the lists would. */
const READ: Statement = {
  name: "read_unit",
  text: `
select ${UNIT},
       ${WORKSPACE},
       (select coalesce(json_agg(json_build_object('url', n.url, 'elsewhere', n.elsewhere, 'state', r.state, 'ordinal', r.ordinal)), '[]'::json)
          from (select a.repo_url as url, bool_or(a.environment is not null) as elsewhere from application a where a.unit = u.id group by a.repo_url) as n
          left join repository_access r on r.workspace = u.workspace and r.url = n.url) as repositories,
       (select count(*) from application a where a.unit = u.id) as applications,
       ${UNIT_ENVIRONMENTS} as environments,
       (select coalesce(json_agg(${REPOSITORY_CREDENTIAL} order by r.id), '[]'::json) from repository_credential r where r.workspace = u.workspace) as repository_credentials,
       exists (select from environment e where e.workspace = u.workspace and e.has_account) as has_accounts_elsewhere,
       ${OBJECT}
  from placement_unit u
  join workspace w on w.id = u.workspace
  left join lateral (
    select * from shard_object
     where subject in (select u.id union all select id from environment where workspace = u.workspace) and applied_revision > 0 offset 0) as o on true
 where u.id = $1
 order by o.subject = u.id desc, o.subject, o.kind, o.instance`,
};

type Row = UnitRow &
  WorkspaceRow &
  ObjectRow & {
    readonly repositories: readonly {
      readonly url: string;
      /** Whether one of them is deployed to an environment. */
      readonly elsewhere: boolean;
      readonly state: RepositoryAccess["state"] | null;
      readonly ordinal: number | null;
    }[];
    readonly applications: number;
    readonly environments: readonly EnvironmentRow[];
    readonly has_accounts_elsewhere: boolean;
    readonly repository_credentials: readonly RepositoryCredential[];
  };

export async function readUnit(database: Database, id: UnitId, signal: AbortSignal): Promise<DesiredUnit | undefined> {
  const rows = await database.run<Row>(READ, [id], signal);
  const [first] = rows;
  if (first === undefined) return undefined;
  const { repositories, applications, environments, repository_credentials: repositoryCredentials } = first;
  return {
    unit: unitOfRow(first),
    workspace: workspaceOfRow(first),
    repoUrls: readable(repositories),
    environmentRepoUrls: readable(repositories.filter(({ elsewhere }) => elsewhere)),
    applications,
    environments: environments.map(environmentOf),
    hasAccountsElsewhere: first.has_accounts_elsewhere,
    repositoryCredentials,
    acknowledged: rows.flatMap((row) => objectOfRow(row) ?? []),
  };
}

/** Those that may be read, as instances have them. */
function readable(repositories: Row["repositories"]): readonly string[] {
  const urls = repositories
    .filter(({ state }) => (state ?? "proven") === "proven")
    .map(({ url, ordinal }) => (ordinal === null ? url : spellingOf(url, ordinal)));
  return [...new Set(urls)].sort();
}
