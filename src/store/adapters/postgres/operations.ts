import { type Millis, millis } from "../../../domain/clock.ts";
import type { InstanceId, OperationId, WorkspaceId } from "../../../domain/ids.ts";
import { OPERATION_DUE_MS, type Operation, type OperationKind, type OperationState } from "../../../domain/operation.ts";
import { WAITING_FOR_INSTANCE, WAITING_FOR_PLACE } from "../../operation/messages.ts";
import type { ApplicationSummary, DeployedKind, OperationStore, Page, WorkspaceSummary } from "../../operation/port.ts";
import { KINDS_LISTED } from "../../operation/port.ts";
import type { Database, Statement } from "./database.ts";
import { build } from "./query-builder.ts";
import {
  APPLICATION,
  type ApplicationRow,
  applicationOfRow,
  STATUS,
  type StatusRow,
  statusOf,
  UNIT,
  type UnitRow,
  unitOfRow,
  WORKSPACE,
  type WorkspaceRow,
  workspaceOfRow,
} from "./rows.ts";
import { instant, readable } from "./sql-values.ts";

type SummaryOfApplication = ApplicationRow & WorkspaceRow & UnitRow & StatusRow;

const WORKSPACES: Statement = {
  name: "list_workspaces",
  text: `
select ${WORKSPACE}, ${UNIT}, (select count(*) from application a where a.unit = u.id) as applications
  from (select * from workspace where ($1::text is null or namespace = $1) and id > $2 order by id limit $3) as w
  left join placement_unit u on u.workspace = w.id
 order by w.id, u.id`,
};

const DEPLOYED_KINDS: Statement = {
  name: "list_deployed_kinds",
  text: `
select o ->> 'group' collate "C" as "group", o ->> 'kind' collate "C" as kind, count(distinct s.application) as applications
  from application_status s, json_array_elements(${readable("s.resources")}) as o
 where ${readable("s.compared_to")} ->> 'environmentId' is null and o ->> 'namespace' <> ''
 group by 1, 2 order by 3 desc, 1, 2
 limit ${KINDS_LISTED}`,
};

export function createOperationStore(database: Database): OperationStore {
  return {
    async listSyncs({ workspaceId, owner }, page, signal) {
      const syncs = applicationsOf(page).whereRaw(`(${IS_UNFINISHED})`);
      if (workspaceId !== undefined) syncs.where("w.id", workspaceId);
      if (owner !== undefined) syncs.where("u.owner", owner);
      return (await database.query<SummaryOfApplication>("list_syncs", syncs, signal)).map(applicationSummary);
    },
    listDeployedKinds: (signal) => database.run<DeployedKind>(DEPLOYED_KINDS, [], signal),
    listOperations: ({ state, workspaceId }, page, signal) => listOperations(database, { state, workspaceId, page }, signal),
    listWorkspaces: ({ namespace }, page, signal) => listWorkspaces(database, { namespace, page }, signal),
    async listApplications({ namespace, name }, page, signal) {
      const applications = applicationsOf(page);
      if (namespace !== undefined) applications.where("w.namespace", namespace);
      if (name !== undefined) applications.where("a.name", name);
      return (await database.query<SummaryOfApplication>("list_applications", applications, signal)).map(applicationSummary);
    },
  };
}

/** A sync is under way, or is said to have failed. */
const IS_UNFINISHED = `
  ${readable("s.operation_state")} ->> 'phase' in ('Running', 'Terminating', 'Failed', 'Error')
  or exists (select 1 from json_array_elements(${readable("s.conditions")}) as c where c ->> 'type' = 'SyncError')`;

/** A page of applications, with all that is shown of one. */
function applicationsOf({ after, limit }: Page) {
  return build("application as a")
    .select(build.raw(`${APPLICATION}, ${WORKSPACE}, ${UNIT}, ${STATUS}`))
    .join("workspace as w", "w.id", "a.workspace")
    .join("placement_unit as u", "u.id", "a.unit")
    .join("application_status as s", "s.application", "a.id")
    .where("a.id", ">", after)
    .orderBy("a.id")
    .limit(limit);
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
  const operations = build("operation")
    .select("id", "workspace", "instance", "subject", "kind", "state", "attempts", "created_at", "updated_at", "deadline", "message")
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit);
  if (state !== undefined) operations.where({ state });
  if (workspaceId !== undefined) operations.where({ workspace: workspaceId });
  const rows = await database.query<OperationRow>("list_operations", operations, signal);
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
  const units = rows.flatMap((row) => (row.u_id === null ? [] : unitOfRow(row)));
  return [{ workspace: workspaceOfRow(first), units, applications: rows.reduce((sum, row) => sum + row.applications, 0) }];
}

function applicationSummary(row: SummaryOfApplication): ApplicationSummary {
  return { application: applicationOfRow(row), workspace: workspaceOfRow(row), unit: unitOfRow(row), status: statusOf(row) };
}

/** Parameters of an operation that is opened: now, its deadline, and what it says without and with an instance. */
export function openingOf(now: Millis): readonly [string, string, string, string] {
  return [instant(now), instant(millis(now + OPERATION_DUE_MS)), WAITING_FOR_PLACE, WAITING_FOR_INSTANCE];
}
