import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Workspace } from "../../domain/workspace.ts";
import type { WorkspaceSummary } from "../../store/operation/port.ts";
import { OPERATION_STATES } from "../../domain/operation.ts";
import { GoneError } from "../../domain/errors.ts";
import type { ApiDeps } from "../port.ts";
import { applicationView, checkView, decisionView, explanationView, instanceView, operationView, pageOf, pageQuery, workspaceView } from "../schema.ts";
import * as views from "../views.ts";

const security = [{ token: [] }];
const DECISIONS_SHOWN = 50;

/** Everything an SRE can look at. */
export function addViewRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const names = async () => views.namesOf(await deps.store.fleet.listInstances(deadline()));

  app.get("/v1/instances", { schema: { summary: "Instances with their load", security, response: { 200: z.object({ items: z.array(instanceView) }) } } }, async () => ({
    items: await readInstances(deps),
  }));
  app.get(
    "/v1/workspaces",
    { schema: { summary: "Workspaces and where they live", security, querystring: pageQuery.extend({ namespace: z.string().max(253).optional() }), response: { 200: pageOf(workspaceView) } } },
    async ({ query: { limit, after, namespace } }) => {
      const found = await deps.store.operations.listWorkspaces(namespace === undefined ? {} : { namespace }, { limit, after }, deadline());
      const known = await names();
      return page(found, limit, (entry) => entry.workspace.id, (entry) => views.workspaceView(entry, known));
    },
  );
  app.get(
    "/v1/applications",
    { schema: { summary: "Applications with sync and health", security, querystring: pageQuery.extend({ namespace: z.string().max(253).optional(), name: z.string().max(253).optional() }), response: { 200: pageOf(applicationView) } } },
    async ({ query: { limit, after, namespace, name } }) => {
      const filter = { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
      const found = await deps.store.operations.listApplications(filter, { limit, after }, deadline());
      const known = await names();
      return page(found, limit, (entry) => entry.application.id, (entry) => views.applicationView(entry, known));
    },
  );
  app.get(
    "/v1/operations",
    { schema: { summary: "Recorded notifications and their outcome", security, querystring: pageQuery.extend({ state: z.enum(OPERATION_STATES).optional() }), response: { 200: pageOf(operationView) } } },
    async ({ query: { limit, after, state } }) => {
      const found = await deps.store.operations.listOperations(state === undefined ? {} : { state }, { limit, after }, deadline());
      const known = await names();
      return page(found, limit, (entry) => entry.id, (entry) => views.operationView(entry, known));
    },
  );
  app.get(
    "/v1/explain/:workspace",
    { schema: { summary: "Why a workspace is where it is", security, params: z.object({ workspace: z.string().max(253) }), response: { 200: explanationView } } },
    async ({ params }) => explain(deps, params.workspace),
  );
  app.get("/v1/doctor", { schema: { summary: "Checks of everything Argosy stands on", security, response: { 200: z.object({ checks: z.array(checkView) }) } } }, async () => ({
    checks: (await deps.doctor(deadline())).map((check) => ({ ...check })),
  }));
  app.get(
    "/v1/decisions",
    { schema: { summary: "The journal, newest first", security, querystring: z.object({ subject: z.string().max(253).optional(), limit: z.coerce.number().int().min(1).max(1000).default(100) }), response: { 200: z.object({ items: z.array(decisionView) }) } } },
    async ({ query: { subject, limit } }) => ({
      items: (await deps.store.decisions.list(subject === undefined ? {} : { subject }, limit, deadline())).map(views.decisionView),
    }),
  );
}

/** A view that takes longer than this is of no use to a person. */
const deadline = () => AbortSignal.timeout(30_000);

function page<Row, View>(rows: readonly Row[], limit: number, key: (row: Row) => string, view: (row: Row) => View): { items: View[]; next: string } {
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { items: rows.map(view), next: last === undefined ? "" : key(last) };
}

async function readInstances(deps: ApiDeps): Promise<ReturnType<typeof views.instanceView>[]> {
  const classes = new Set((await deps.store.fleet.listInstances(deadline())).map((instance) => instance.class));
  const fleets = await Promise.all([...classes].sort().map((name) => deps.store.placements.readFleet(name, deadline())));
  return fleets.flatMap((fleet) => fleet.instances.map(views.instanceView)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function explain(deps: ApiDeps, namespace: string): Promise<z.infer<typeof explanationView>> {
  const [summary] = await deps.store.operations.listWorkspaces({ namespace }, { limit: 1, after: "" }, deadline());
  if (summary === undefined) {
    throw new GoneError(`explaining workspace ${namespace}: no such workspace; \`argosy get workspaces\` lists them`, { code: "api.no-workspace", context: { namespace } });
  }
  const known = views.namesOf(await deps.store.fleet.listInstances(deadline()));
  const nameOf = (id: string): string => [...known].find(([key]) => key === id)?.[1] ?? id;
  const perUnit = await Promise.all(summary.units.map((unit) => explainUnit(deps, { unit, workspace: summary.workspace, nameOf })));
  return { workspace: views.workspaceView(summary, known), text: perUnit.flatMap((entry) => entry.text), decisions: perUnit.flatMap((entry) => entry.decisions) };
}

async function explainUnit(deps: ApiDeps, { unit, workspace, nameOf }: { readonly unit: WorkspaceSummary["units"][number]; readonly workspace: Workspace; readonly nameOf: (id: string) => string }) {
  const decisions = await deps.store.decisions.list({ subject: unit.id }, DECISIONS_SHOWN, deadline());
  return { text: [...deps.explain({ unit, workspace }, decisions, nameOf)], decisions: decisions.map(views.decisionView) };
}
