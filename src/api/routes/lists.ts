import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { OPERATION_STATES } from "../../domain/operation.ts";
import type { ApiDeps } from "../port.ts";
import { applicationView, instanceView, operationView, pageOf, pageQuery, workspaceView } from "../schema.ts";
import * as views from "../views.ts";

const security = [{ token: [] }];

/** Lists an SRE can look at. */
export function addListRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const names = async () => views.namesOf(await deps.store.fleet.listInstances(deadline()));

  app.get(
    "/v1/instances",
    { schema: { summary: "Instances with their load", security, response: { 200: z.object({ items: z.array(instanceView) }) } } },
    async () => ({
      items: await readInstances(deps),
    }),
  );
  app.get(
    "/v1/workspaces",
    {
      schema: {
        summary: "Workspaces and where they live",
        security,
        querystring: pageQuery.extend({ namespace: z.string().max(253).optional() }),
        response: { 200: pageOf(workspaceView) },
      },
    },
    async ({ query: { limit, after, namespace } }) => {
      const found = await deps.store.operations.listWorkspaces(namespace === undefined ? {} : { namespace }, { limit, after }, deadline());
      const known = await names();
      return page(
        found,
        limit,
        (entry) => entry.workspace.id,
        (entry) => views.workspaceView(entry, known),
      );
    },
  );
  app.get(
    "/v1/applications",
    {
      schema: {
        summary: "Applications with sync and health",
        security,
        querystring: pageQuery.extend({ namespace: z.string().max(253).optional(), name: z.string().max(253).optional() }),
        response: { 200: pageOf(applicationView) },
      },
    },
    async ({ query: { limit, after, namespace, name } }) => {
      const filter = { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
      const found = await deps.store.operations.listApplications(filter, { limit, after }, deadline());
      const known = await names();
      return page(
        found,
        limit,
        (entry) => entry.application.id,
        (entry) => views.applicationView(entry, known),
      );
    },
  );
  app.get(
    "/v1/operations",
    {
      schema: {
        summary: "Recorded notifications and their outcome",
        security,
        querystring: pageQuery.extend({ state: z.enum(OPERATION_STATES).optional() }),
        response: { 200: pageOf(operationView) },
      },
    },
    async ({ query: { limit, after, state } }) => {
      const found = await deps.store.operations.listOperations(state === undefined ? {} : { state }, { limit, after }, deadline());
      const known = await names();
      return page(
        found,
        limit,
        (entry) => entry.id,
        (entry) => views.operationView(entry, known),
      );
    },
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

async function readInstances(deps: ApiDeps): Promise<ReturnType<typeof views.instanceView>[]> {
  const classes = new Set((await deps.store.fleet.listInstances(deadline())).map((instance) => instance.class));
  const fleets = await Promise.all([...classes].sort().map((name) => deps.store.placements.readFleet(name, deadline())));
  return fleets.flatMap((fleet) => fleet.instances.map(views.instanceView)).sort((a, b) => (a.name < b.name ? -1 : 1));
}
