import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { ApplicationId, InstanceId, WorkspaceId } from "../../domain/ids.ts";
import { OPERATION_STATES, type OperationState } from "../../domain/operation.ts";
import type { ApplicationSummary, Page, WorkspaceSummary } from "../../store/operation/port.ts";
import { isWithin, type Scopes, type Subject, workspaceSubject } from "../identity/scope.ts";
import type { ApiDeps, InstanceUsage } from "../port.ts";
import {
  applicationViewSchema,
  instanceViewSchema,
  type OperationView,
  operationViewSchema,
  pageOf,
  pageQuery,
  workspaceViewSchema,
} from "../schema.ts";
import * as views from "../views.ts";

const security = [{ token: [] }];

/** Lists for SREs. */
export function addListRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const names = async () => views.namesOf(await deps.store.fleet.listInstances(deadline()));

  app.get(
    "/v1/instances",
    {
      schema: {
        operationId: "listInstances",
        summary: "Instances with their load; with usage=true also what each of them uses",
        security,
        querystring: z.object({ usage: z.enum(["true", "false"]).default("false") }),
        response: { 200: z.object({ items: z.array(instanceViewSchema) }) },
      },
    },
    async ({ query, scopes }) => ({ items: await readInstances(deps, { withUsage: query.usage === "true", scopes }) }),
  );
  app.get(
    "/v1/workspaces",
    {
      schema: {
        operationId: "listWorkspaces",
        summary: "Workspaces and where they live",
        security,
        querystring: pageQuery.extend({ namespace: z.string().max(253).optional() }).strict(),
        response: { 200: pageOf(workspaceViewSchema) },
      },
    },
    async ({ query: { limit, after, namespace }, scopes }) => {
      const filter = namespace === undefined ? {} : { namespace };
      const key = (entry: WorkspaceSummary): string => entry.workspace.id;
      const found = await rowsWithin(scopes, { limit, after, key, subject: workspaceSubject }, (from) =>
        deps.store.operations.listWorkspaces(filter, from, deadline()),
      );
      const known = await names();
      return page(found, limit, key, (entry) => views.workspaceView(entry, known));
    },
  );
  app.get(
    "/v1/applications",
    {
      schema: {
        operationId: "listApplications",
        summary: "Applications with sync and health",
        security,
        querystring: pageQuery.extend({ namespace: z.string().max(253).optional(), name: z.string().max(253).optional() }).strict(),
        response: { 200: pageOf(applicationViewSchema) },
      },
    },
    async ({ query: { limit, after, namespace, name }, scopes }) => {
      const filter = { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
      const key = (entry: ApplicationSummary): string => entry.application.id;
      const subject = ({ workspace, unit }: ApplicationSummary): Subject => workspaceSubject({ workspace, units: [unit] });
      const found = await rowsWithin(scopes, { limit, after, key, subject }, (from) =>
        deps.store.operations.listApplications(filter, from, deadline()),
      );
      const known = await names();
      return page(found, limit, key, (entry) => views.applicationView(entry, known));
    },
  );
  app.get(
    "/v1/operations",
    {
      schema: {
        operationId: "listOperations",
        summary: "Recorded notifications and their outcome, and behind them the syncs of Argo CD's that are under way or fail",
        security,
        querystring: pageQuery.extend({ state: z.enum(OPERATION_STATES).optional(), namespace: z.string().max(253).optional() }).strict(),
        response: { 200: pageOf(operationViewSchema) },
      },
    },
    async ({ query }) => listOperations(deps, query),
  );
}

/** A view that takes longer than this is of no use to a person. */
const deadline = () => AbortSignal.timeout(30_000);

function page<Row, View>(
  rows: readonly Row[],
  limit: number,
  key: (row: Row) => string,
  view: (row: Row) => View,
): { items: View[]; next: string } {
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { items: rows.map(view), next: last === undefined ? "" : key(last) };
}

interface PageWithin<Row> extends Page {
  readonly key: (row: Row) => string;
  readonly subject: (row: Row) => Subject;
}

/** Rows that are read at once for a role that may see few of them. */
const SEARCHED = 1_000;

/** A page of the rows that may be shown: it is full unless there are no more of them, so that its end does not tell of the others. */
async function rowsWithin<Row>(
  scopes: Scopes,
  { limit, after, key, subject }: PageWithin<Row>,
  read: (from: Page) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (scopes === undefined) return read({ limit, after });
  const shown: Row[] = [];
  for (let from = after; ; ) {
    const rows = await read({ limit: SEARCHED, after: from });
    shown.push(...rows.filter((row) => isWithin(scopes, subject(row))));
    const last = rows.at(-1);
    if (shown.length >= limit || last === undefined || rows.length < SEARCHED) return shown.slice(0, limit);
    from = key(last);
  }
}

interface OperationsQuery {
  readonly limit: number;
  readonly after: string;
  readonly state?: OperationState | undefined;
  readonly namespace?: string | undefined;
}

/** Operations with the names of what they are about; a subject that is gone has none. */
async function listOperations(deps: ApiDeps, { limit, after, state, namespace }: OperationsQuery) {
  const workspaceIds = namespace === undefined ? [undefined] : await workspacesCalled(deps, namespace);
  const perWorkspace = workspaceIds.map((workspaceId) =>
    deps.store.operations.listOperations(
      { ...(state === undefined ? {} : { state }), ...(workspaceId === undefined ? {} : { workspaceId }) },
      { limit, after },
      deadline(),
    ),
  );
  const found = (await Promise.all(perWorkspace))
    .flat()
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit);
  const instances = views.namesOf(await deps.store.fleet.listInstances(deadline()));
  if (after.startsWith(views.SYNC_ID)) return listSyncs(deps, { workspaceIds, state, limit, after }, instances);
  const subjects = await deps.store.intents.readByIds([...new Set(found.map((entry) => entry.subject as ApplicationId))], deadline());
  const names = new Map<string, string>(
    subjects.map(({ application, workspace }) => [application.id, `${workspace.namespace}/${application.name}`]),
  );
  const items = found.map((entry) => views.operationView(entry, instances, names.get(entry.subject)));
  if (items.length >= limit) return { items, next: items.at(-1)?.id ?? "" };
  const syncs = await listSyncs(deps, { workspaceIds, state, limit: limit - items.length, after: views.SYNC_ID }, instances);
  return { items: [...items, ...syncs.items], next: syncs.next };
}

/** Rows that are read for one page: most of them have no sync to show. */
const SYNCS_READ = 1_000;

/** Syncs of Argo CD's that are under way or fail, as operations; these stand behind all others. */
async function listSyncs(
  { store }: ApiDeps,
  {
    workspaceIds,
    state,
    limit,
    after,
  }: {
    readonly workspaceIds: readonly (WorkspaceId | undefined)[];
    readonly state: OperationState | undefined;
    readonly limit: number;
    readonly after: string;
  },
  names: views.InstanceNames,
): Promise<{ items: OperationView[]; next: string }> {
  if (state === "Waiting" || state === "Completed") return { items: [], next: "" };
  const from = { limit: SYNCS_READ, after: after.slice(views.SYNC_ID.length) };
  const perWorkspace = workspaceIds.map((workspaceId) =>
    store.operations.listSyncs(workspaceId === undefined ? {} : { workspaceId }, from, deadline()),
  );
  const read = (await Promise.all(perWorkspace))
    .flat()
    .toSorted((a, b) => (a.application.id < b.application.id ? -1 : 1))
    .slice(0, SYNCS_READ);
  const shown = read.flatMap((row) => views.syncView(row, names) ?? []).filter((view) => state === undefined || view.state === state);
  const items = shown.slice(0, limit);
  if (shown.length > limit) return { items, next: items.at(-1)?.id ?? "" };
  return { items, next: read.length < SYNCS_READ ? "" : `${views.SYNC_ID}${read.at(-1)?.application.id ?? ""}` };
}

/** Usually one; a namespace that was deleted and made again may have left an older one behind. */
async function workspacesCalled(deps: ApiDeps, namespace: string): Promise<readonly WorkspaceId[]> {
  const found = await deps.store.operations.listWorkspaces({ namespace }, { limit: 1000, after: "" }, deadline());
  return found.map(({ workspace }) => workspace.id);
}

async function readInstances(
  deps: ApiDeps,
  { withUsage, scopes }: { readonly withUsage: boolean; readonly scopes: Scopes },
): Promise<ReturnType<typeof views.instanceView>[]> {
  const all = new Set((await deps.store.fleet.listInstances(deadline())).map((instance) => instance.class));
  const classes = [...all].filter((name) => isWithin(scopes, { kind: "class", class: name }));
  const fleets = await Promise.all(classes.sort().map((name) => deps.store.placements.readFleet(name, deadline())));
  const rows = fleets.flatMap((fleet) => fleet.instances);
  const usage = withUsage
    ? await deps.readUsage(
        rows.map(({ instance }) => instance),
        deadline(),
      )
    : new Map<InstanceId, InstanceUsage>();
  const pools = (await deps.store.fleet.readFleet(deadline()))?.spec.pools ?? [];
  return rows
    .map((row) => views.instanceView(row, { usage: usage.get(row.instance.id), pools }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
