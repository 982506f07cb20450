import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Decision } from "../../domain/decision.ts";
import type { Directive, Freeze } from "../../domain/directive.ts";
import type { InstanceId, PlanId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import type { StoredPlan } from "../../domain/plan.ts";
import { freezeOfRollout, type Rollout } from "../../domain/rollout.ts";
import type { PlacementUnit, Workspace } from "../../domain/workspace.ts";
import type { Store } from "../../store/port.ts";
import { explainQuota, quotaText } from "../explain-quota.ts";
import { failingSyncs } from "../failing-syncs.ts";
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
  const instances = await deps.store.fleet.listInstances(deadline());
  const known = views.namesOf(instances);
  const nameOf = (id: string): string => known.get(id as InstanceId) ?? id;
  const { workspace } = summary;
  const directive = await deps.store.directives.read(workspace.id, deadline());
  const orders = await deps.store.decisions.list({ subject: workspace.id }, DECISIONS_SHOWN, deadline());
  const freezes = await deps.store.directives.listFreezes(deadline());
  const rollout = await deps.store.rollouts.readLive(deadline());
  const facts = { workspace, parts: summary.units, directive, nameOf, instances, orders, freezes, rollout };
  const perUnit = await Promise.all(
    summary.units.map((unit, index) => explainUnit(deps, unit, { ...facts, orders: index === 0 ? orders : [] })),
  );
  const failing = await failingSyncs(deps.store, { workspaceId: workspace.id }, known);
  const declared = (await deps.store.fleet.readFleet(deadline()))?.spec.workspaces;
  const quota = declared && explainQuota(declared, { units: summary.units, directive });
  return {
    workspace: views.workspaceView(summary, known),
    directive: views.directiveView(directive, known),
    quota: quota ?? null,
    text: [
      ...perUnit.flatMap((entry) => entry.text),
      ...(quota === undefined ? [] : [`  ${quotaText(quota)}`]),
      ...failing.map(({ application, text }) => `  application ${application} ${text}`),
    ],
    decisions: [...perUnit.flatMap((entry) => entry.decisions), ...orders].map((decision) => views.decisionView(decision, known)),
  };
}

async function explainInstance(deps: ApiDeps, name: string): Promise<z.infer<typeof instanceExplanationView>> {
  const { store } = deps;
  const known = views.namesOf(await store.fleet.listInstances(deadline()));
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
  return {
    instance: views.instanceView(row, { pools: (await store.fleet.readFleet(deadline()))?.spec.pools ?? [] }),
    text: [...text],
    decisions: decisions.map((decision) => views.decisionView(decision, known)),
  };
}

/** Plans of its class among which one is searched that would move it. */
const PLANS_SHOWN = 10;

async function explainUnit(
  { store, clock, explain: tell }: ApiDeps,
  unit: PlacementUnit,
  {
    workspace,
    parts,
    directive,
    nameOf,
    instances,
    orders,
    freezes,
    rollout,
  }: {
    readonly workspace: Workspace;
    readonly parts: readonly PlacementUnit[];
    readonly directive: Directive;
    readonly nameOf: (id: string) => string;
    readonly instances: readonly Instance[];
    readonly freezes: readonly Freeze[];
    readonly rollout: Rollout | undefined;
    readonly orders: readonly Decision[];
  },
): Promise<{ readonly text: readonly string[]; readonly decisions: readonly Decision[] }> {
  // Read separately: an owner binding that is changed all the time must not crowd out why the unit lives where it does.
  const placements = await store.decisions.list({ subject: unit.id, kind: "placement" }, DECISIONS_SHOWN, deadline());
  const repairs = await store.decisions.list({ subject: unit.id, kind: "owner-binding" }, 1, deadline());
  const [move] = await store.moves.list({ unitId: unit.id, isLive: true }, 1, deadline());
  const decisions = [...placements, ...repairs];
  const touched = instances.filter(({ id, class: name }) => id === unit.owner || name === unit.wantedClass);
  const text = tell({
    ...{
      unit,
      parts,
      namespace: workspace.namespace,
      directive,
      groups: workspace.groups,
      freezes: [...freezes, ...freezeOfRollout(rollout, touched)],
      move,
      instanceName: nameOf,
      now: clock.now(),
    },
    decisions: [...decisions, ...orders].toSorted((a, b) => b.at - a.at),
    owner: instances.find(({ id }) => id === unit.owner),
    plans: await plansAbout(store, unit, placements),
  });
  return { text, decisions };
}

/** The newest plans of its class, and the one by which it was moved last. */
async function plansAbout(store: Store, unit: PlacementUnit, placements: readonly Decision[]): Promise<readonly StoredPlan[]> {
  const newest = await store.plans.list({ class: unit.class }, PLANS_SHOWN, deadline());
  const movedBy = placements.find(({ verdict }) => verdict === "MOVED")?.details.plan as PlanId | undefined;
  if (movedBy === undefined || newest.some(({ id }) => id === movedBy)) return newest;
  const older = await store.plans.read(movedBy, deadline());
  return older === undefined ? newest : [...newest, older];
}
