import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { ZERO_LOAD } from "../../domain/load.ts";
import type { UnitWithWorkspace } from "../../store/placement/port.ts";
import { findInstance, findWorkspace } from "../find.ts";
import type { ApiDeps } from "../port.ts";
import { checkView, explanationView, instanceExplanationView } from "../schema.ts";
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
    "/v1/instances/:instance/explanation",
    {
      schema: {
        operationId: "explainInstance",
        summary: "Why an instance is as it is",
        security,
        params: z.object({ instance: z.string().max(253) }),
        response: { 200: instanceExplanationView },
      },
    },
    async ({ params }) => explainInstance(deps, params.instance),
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
}

async function explain(deps: ApiDeps, namespace: string): Promise<z.infer<typeof explanationView>> {
  const summary = await findWorkspace(deps, namespace, deadline());
  const known = views.namesOf(await deps.store.fleet.listInstances(deadline()));
  const nameOf = (id: string): string => [...known].find(([key]) => key === id)?.[1] ?? id;
  const { workspace } = summary;
  const directive = await deps.store.directives.read(workspace.id, deadline());
  const perUnit = await Promise.all(summary.units.map((unit) => explainUnit(deps, { unit, workspace, directive, nameOf })));
  const orders = await deps.store.decisions.list({ subject: workspace.id }, DECISIONS_SHOWN, deadline());
  return {
    workspace: views.workspaceView(summary, known),
    directive: views.directiveView(directive, known),
    text: perUnit.flatMap((entry) => entry.text),
    decisions: [...perUnit.flatMap((entry) => entry.decisions), ...orders.map(views.decisionView)],
  };
}

async function explainInstance(deps: ApiDeps, name: string): Promise<z.infer<typeof instanceExplanationView>> {
  const { store } = deps;
  const instance = await findInstance(deps, name, deadline());
  const { instances } = await store.placements.readFleet(instance.class, deadline());
  const row = instances.find((each) => each.instance.id === instance.id) ?? { instance, load: ZERO_LOAD, units: 0 };
  const loads = await store.loads.listInstanceLoads(instance.class, deadline());
  const state = await store.loads.readState(instance.class, deadline());
  const decisions = await store.decisions.list({ subject: instance.id }, DECISIONS_SHOWN, deadline());
  const text = deps.explainInstance({
    ...row,
    measured: loads.find(({ instanceId }) => instanceId === instance.id),
    aboveSince: state.aboveSince[instance.id],
    overloadedSince: state.overloadedSince[instance.id],
    decisions,
  });
  return { instance: views.instanceView(row), text: [...text], decisions: decisions.map(views.decisionView) };
}

async function explainUnit(
  deps: ApiDeps,
  { unit, workspace, directive, nameOf }: Omit<UnitWithWorkspace, "siblings"> & { readonly nameOf: (id: string) => string },
) {
  // Asked for apart: a register that is changed all the time must not crowd out why the unit lives where it does.
  const kinds = ["placement", "register"] as const;
  const found = await Promise.all(
    kinds.map((kind) => deps.store.decisions.list({ subject: unit.id, kind }, DECISIONS_SHOWN / kinds.length, deadline())),
  );
  const decisions = found.flat().toSorted((a, b) => b.at - a.at);
  return { text: [...deps.explain({ unit, workspace, directive }, decisions, nameOf)], decisions: decisions.map(views.decisionView) };
}
