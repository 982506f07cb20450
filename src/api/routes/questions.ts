import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { GoneError } from "../../domain/errors.ts";
import type { Workspace } from "../../domain/workspace.ts";
import type { WorkspaceSummary } from "../../store/operation/port.ts";
import type { ApiDeps } from "../port.ts";
import { checkView, decisionView, explanationView } from "../schema.ts";
import * as views from "../views.ts";

const security = [{ token: [] }];
const DECISIONS_SHOWN = 50;
/** An answer that takes longer than this is of no use to a person. */
const deadline = () => AbortSignal.timeout(30_000);

/** Questions an SRE asks: why a workspace is where it is, whether all is well, what was decided. */
export function addQuestionRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/v1/explain/:workspace",
    {
      schema: {
        operationId: "explainWorkspace",
        summary: "Why a workspace is where it is",
        security,
        params: z.object({ workspace: z.string().max(253) }),
        response: { 200: explanationView },
      },
    },
    async ({ params }) => explain(deps, params.workspace),
  );
  app.get(
    "/v1/doctor",
    {
      schema: {
        operationId: "runDoctor",
        summary: "Checks of everything Argosy stands on",
        security,
        response: { 200: z.object({ checks: z.array(checkView) }) },
      },
    },
    async () => ({
      checks: (await deps.doctor(deadline())).map((check) => ({ ...check })),
    }),
  );
  app.get(
    "/v1/decisions",
    {
      schema: {
        operationId: "listDecisions",
        summary: "The journal, newest first",
        security,
        querystring: z.object({ subject: z.string().max(253).optional(), limit: z.coerce.number().int().min(1).max(1000).default(100) }),
        response: { 200: z.object({ items: z.array(decisionView) }) },
      },
    },
    async ({ query: { subject, limit } }) => ({
      items: (await deps.store.decisions.list(subject === undefined ? {} : { subject }, limit, deadline())).map(views.decisionView),
    }),
  );
}

async function explain(deps: ApiDeps, namespace: string): Promise<z.infer<typeof explanationView>> {
  const [summary] = await deps.store.operations.listWorkspaces({ namespace }, { limit: 1, after: "" }, deadline());
  if (summary === undefined) {
    throw new GoneError(`there is no workspace ${namespace}; \`argosy get workspaces\` lists them`, {
      code: "api.no-workspace",
      context: { namespace },
    });
  }
  const known = views.namesOf(await deps.store.fleet.listInstances(deadline()));
  const nameOf = (id: string): string => [...known].find(([key]) => key === id)?.[1] ?? id;
  const perUnit = await Promise.all(summary.units.map((unit) => explainUnit(deps, { unit, workspace: summary.workspace, nameOf })));
  return {
    workspace: views.workspaceView(summary, known),
    text: perUnit.flatMap((entry) => entry.text),
    decisions: perUnit.flatMap((entry) => entry.decisions),
  };
}

async function explainUnit(
  deps: ApiDeps,
  {
    unit,
    workspace,
    nameOf,
  }: { readonly unit: WorkspaceSummary["units"][number]; readonly workspace: Workspace; readonly nameOf: (id: string) => string },
) {
  const decisions = await deps.store.decisions.list({ subject: unit.id }, DECISIONS_SHOWN, deadline());
  return { text: [...deps.explain({ unit, workspace }, decisions, nameOf)], decisions: decisions.map(views.decisionView) };
}
