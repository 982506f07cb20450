import { type Millis, millis } from "../../../../domain/clock.ts";
import type { MoveId, UnitId } from "../../../../domain/ids.ts";
import type { Instance } from "../../../../domain/instance.ts";
import type { Application } from "../../../../domain/workspace.ts";
import type { MoveRows } from "../../../move/port.ts";
import type { Database, Statement } from "../database.ts";
import {
  type EnvironmentRow,
  environmentOf,
  JOIN_ENVIRONMENT,
  UNIT_ENVIRONMENTS,
  type WithEnvironment,
} from "../environments/environment-row.ts";
import { type InstanceRow, instanceOf } from "../fleet/instance-row.ts";
import { type AccessRow, JOIN_ACCESS, spelled } from "../repository-access/access-row.ts";
import { UNIT, type UnitRow, unitOfRow, WORKSPACE, type WorkspaceRow, workspaceOfRow } from "../rows.ts";
import { sqlText } from "../sql-values.ts";
import { COLUMNS, type MoveRow, moveOf } from "./move-row.ts";

/** One row however many applications there are: with a row for each the move's baseline, which has all of them, would come with each. */
const READ: Statement = {
  name: "read_move_rows",
  text: `
select ${COLUMNS}, ${UNIT}, ${WORKSPACE},
       (select row_to_json(i) from instance i where i.id = m.from_instance) as source,
       (select row_to_json(i) from instance i where i.id = m.to_instance) as target,
       ${UNIT_ENVIRONMENTS} as environments,
       (select coalesce(json_agg(json_build_object('application', row_to_json(a), 'environment', e.environment, 'access', ra.access) order by a.id), '[]')
          from application a ${JOIN_ENVIRONMENT} ${JOIN_ACCESS}
         where a.unit = u.id) as applications,
       (select coalesce(json_agg(s.id order by s.id), '[]') from placement_unit s where s.took_from = u.id and s.owner = m.from_instance) as takers
  from move m
  join placement_unit u on u.id = m.unit
  join workspace w on w.id = u.workspace
 where m.id = $1`,
};

/** As JSON has times. */
interface InstanceJson extends Omit<InstanceRow, "state_since"> {
  readonly state_since: string;
}

interface ApplicationJson extends Pick<Application, "id" | "name" | "uid" | "generation" | "spec" | "deletion"> {
  readonly workspace: Application["workspaceId"];
  readonly unit: Application["unitId"];
  readonly argo_name: string;
  readonly desired_revision: number;
  readonly deleted_at: string | null;
}

interface Row extends MoveRow, UnitRow, WorkspaceRow {
  readonly source: InstanceJson | null;
  readonly target: InstanceJson | null;
  readonly environments: readonly EnvironmentRow[];
  readonly takers: readonly UnitId[];
  readonly applications: readonly (WithEnvironment & { readonly application: ApplicationJson; readonly access: AccessRow | null })[];
}

export async function readRows(database: Database, id: MoveId, signal: AbortSignal): Promise<MoveRows | undefined> {
  const [row] = await database.run<Row>(READ, [sqlText(id)], signal);
  if (row === undefined) return undefined;
  const applications = row.applications.map(({ application, environment, access }) => ({
    application: spelled(applicationOf(application), access).application,
    environment: environment === null ? undefined : environmentOf(environment),
  }));
  return {
    move: moveOf(row),
    source: endOf(row.source),
    target: endOf(row.target),
    unit: { unit: unitOfRow(row), workspace: workspaceOfRow(row), environments: row.environments.map(environmentOf), applications },
    takers: row.takers,
  };
}

function endOf(row: InstanceJson | null): Instance | undefined {
  return row === null ? undefined : instanceOf({ ...row, state_since: timeOf(row.state_since) });
}

function applicationOf(row: ApplicationJson): Application {
  const { id, name, uid, generation, spec, deletion } = row;
  return {
    id,
    workspaceId: row.workspace,
    unitId: row.unit,
    name,
    uid,
    generation,
    spec,
    deletion,
    argoName: row.argo_name,
    desiredRevision: row.desired_revision,
    deletedAt: row.deleted_at === null ? undefined : timeOf(row.deleted_at),
  };
}

function timeOf(json: string): Millis {
  return millis(Date.parse(json));
}
