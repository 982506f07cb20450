import type { Millis } from "../../../../domain/clock.ts";
import type { InstanceId, OperationId, WorkspaceId } from "../../../../domain/ids.ts";
import type { Operation, OperationKind, OperationState } from "../../../../domain/operation.ts";
import type { ApplicationSummary, OperationStore, Page, WorkspaceSummary } from "../../../operation/port.ts";
import type { Database, Statement } from "../database.ts";
import {
  APPLICATION,
  type ApplicationRow,
  applicationOf,
  STATUS,
  type StatusRow,
  statusOf,
  UNIT,
  type UnitRow,
  unitOf,
  WORKSPACE,
  type WorkspaceRow,
  workspaceOf,
} from "../rows.ts";

const OPERATIONS: Statement = {
  name: "list_operations",
  text: `
select id, workspace, instance, subject, kind, state, attempts, created_at, updated_at, deadline, message from operation
 where ($1::text is null or state = $1) and ($2::text is null or workspace = $2) and id > $3
 order by id
 limit $4`,
};

const WORKSPACES: Statement = {
  name: "list_workspaces",
  text: `
select ${WORKSPACE}, ${UNIT}, (select count(*) from application a where a.unit = u.id) as applications
  from (select * from workspace where ($1::text is null or namespace = $1) and id > $2 order by id limit $3) as w
  left join placement_unit u on u.workspace = w.id
 order by w.id, u.id`,
};

/** Applications with all that is told of one. */
const APPLICATION_ROWS = `
select ${APPLICATION}, ${WORKSPACE}, ${UNIT}, ${STATUS}
  from application a
  join workspace w on w.id = a.workspace
  join placement_unit u on u.id = a.unit
  join application_status s on s.application = a.id`;

const APPLICATIONS: Statement = {
  name: "list_applications",
  text: `${APPLICATION_ROWS}
 where ($1::text is null or w.namespace = $1) and ($2::text is null or a.name = $2) and a.id > $3
 order by a.id
 limit $4`,
};

const SYNCS: Statement = {
  name: "list_syncs",
  text: `${APPLICATION_ROWS}
 where ($1::text is null or w.id = $1) and ($2::text is null or u.owner = $2) and a.id > $3
   and (s.operation_state ->> 'phase' in ('Running', 'Terminating', 'Failed', 'Error') or s.conditions::text like '%SyncError%')
 order by a.id
 limit $4`,
};

export function createOperationStore(database: Database): OperationStore {
  return {
    async listSyncs({ workspaceId, owner }, { limit, after }, signal) {
      const values = [workspaceId ?? null, owner ?? null, after, limit];
      const rows = await database.run<ApplicationRow & WorkspaceRow & UnitRow & StatusRow>(SYNCS, values, signal);
      return rows.map(applicationSummary);
    },
    listOperations: ({ state, workspaceId }, page, signal) => listOperations(database, { state, workspaceId, page }, signal),
    listWorkspaces: ({ namespace }, page, signal) => listWorkspaces(database, { namespace, page }, signal),
    async listApplications({ namespace, name }, { limit, after }, signal) {
      const rows = await database.run<ApplicationRow & WorkspaceRow & UnitRow & StatusRow>(
        APPLICATIONS,
        [namespace ?? null, name ?? null, after, limit],
        signal,
      );
      return rows.map(applicationSummary);
    },
  };
}

interface OperationRow {
  readonly id: OperationId;
  readonly workspace: WorkspaceId;
  readonly instance: InstanceId | null;
  readonly subject: string;
  readonly kind: OperationKind;
  readonly state: OperationState;
  readonly attempts: number;
  readonly created_at: Millis;
  readonly updated_at: Millis;
  readonly deadline: Millis;
  readonly message: string;
}

async function listOperations(
  database: Database,
  {
    state,
    workspaceId,
    page: { limit, after },
  }: { readonly state: OperationState | undefined; readonly workspaceId: WorkspaceId | undefined; readonly page: Page },
  signal: AbortSignal,
): Promise<readonly Operation[]> {
  const rows = await database.run<OperationRow>(OPERATIONS, [state ?? null, workspaceId ?? null, after, limit], signal);
  return rows.map(({ workspace, instance, created_at, updated_at, ...row }) => ({
    ...row,
    workspaceId: workspace,
    instanceId: instance ?? undefined,
    createdAt: created_at,
    updatedAt: updated_at,
  }));
}

type SummaryRow = WorkspaceRow & (UnitRow | { readonly u_id: null }) & { readonly applications: number };

async function listWorkspaces(
  database: Database,
  { namespace, page: { limit, after } }: { readonly namespace: string | undefined; readonly page: Page },
  signal: AbortSignal,
): Promise<readonly WorkspaceSummary[]> {
  const rows = await database.run<SummaryRow>(WORKSPACES, [namespace ?? null, after, limit], signal);
  return [...Map.groupBy(rows, (row) => row.w_id).values()].flatMap(workspaceSummary);
}

function workspaceSummary(rows: readonly SummaryRow[]): readonly WorkspaceSummary[] {
  const [first] = rows;
  if (first === undefined) return [];
  const units = rows.flatMap((row) => (row.u_id === null ? [] : unitOf(row)));
  return [{ workspace: workspaceOf(first), units, applications: rows.reduce((sum, row) => sum + row.applications, 0) }];
}

function applicationSummary(row: ApplicationRow & WorkspaceRow & UnitRow & StatusRow): ApplicationSummary {
  return { application: applicationOf(row), workspace: workspaceOf(row), unit: unitOf(row), status: statusOf(row) };
}
