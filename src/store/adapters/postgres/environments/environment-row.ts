import { millis } from "../../../../domain/clock.ts";
import type { Environment } from "../../../../domain/environment.ts";
import type { Withholding } from "../../../../domain/withholding.ts";

/** An environment as `row_to_json` writes it. */
export interface EnvironmentRow {
  readonly id: Environment["id"];
  readonly workspace: Environment["workspaceId"];
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly state: Environment["state"];
  readonly api_url: string;
  readonly namespaces: readonly string[];
  readonly cluster_resources: boolean;
  readonly is_insecure: boolean;
  readonly creates_account: boolean;
  readonly has_account: boolean;
  readonly fingerprint: string;
  /** As JSON has times. */
  readonly unreachable_since: string | null;
  readonly withheld: Withholding | null;
}

/** Joins to application `a` what its destination names, as `environment`: the connected one of that name, else the newest. */
export const JOIN_ENVIRONMENT = `left join lateral (
         select row_to_json(n) as environment from environment n
          where n.workspace = a.workspace and n.name = a.environment
          order by n.state = 'connected' desc, n.id desc limit 1) as e on true`;

/** Expression: those that unit `u`'s applications deploy to, or are being deleted from, as JSON. */
export const UNIT_ENVIRONMENTS = `(select coalesce(json_agg(row_to_json(e) order by e.id), '[]') from environment e
         where e.workspace = u.workspace
           and exists (select from application a
                        where a.unit = u.id and a.environment = e.name
                          and (a.deletion = 'cascade' or (a.deletion = 'none' and e.state = 'connected'))))`;

export interface WithEnvironment {
  readonly environment: EnvironmentRow | null;
}

export function environmentOf(row: EnvironmentRow): Environment {
  return {
    id: row.id,
    workspaceId: row.workspace,
    name: row.name,
    uid: row.uid,
    generation: row.generation,
    state: row.state,
    apiUrl: row.api_url,
    namespaces: row.namespaces,
    clusterResources: row.cluster_resources,
    isInsecure: row.is_insecure,
    createsAccount: row.creates_account,
    hasAccount: row.has_account,
    fingerprint: row.fingerprint,
    unreachableSince: row.unreachable_since === null ? undefined : millis(Date.parse(row.unreachable_since)),
    ...(row.withheld === null ? {} : { withheld: row.withheld }),
  };
}
