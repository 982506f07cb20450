import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { millis } from "../../domain/clock.ts";
import type { Instance } from "../../domain/instance.ts";
import type { StoredPlan } from "../../domain/plan.ts";
import { includesRole } from "../auth.ts";
import { findInstance } from "../find.ts";
import type { ApiDeps } from "../port.ts";
import { problem, sendProblem, tooMuch } from "../problem.ts";
import { movesById, progressView, progressViewOf } from "../step-views.ts";

const security = [{ token: [] }];
/** A plan for a hundred thousand units takes seconds. */
const deadline = () => AbortSignal.timeout(50_000);
/** More than an instance has units, each tried a few times. */
const MOVES_READ = 100_000;

const drain = progressView
  .extend({
    instance: z.string(),
    state: z.string(),
    units: z.number().int().describe("of which it still has something: it holds them, or their moves have not ended"),
    failOver: z.boolean().describe("its units leave by fail-over: the instance itself is not contacted"),
    budget: z.number().int().describe("how many of its moves may be under way at once"),
  })
  .meta({ id: "Drain" });
const dryRun = z
  .object({
    instance: z.string(),
    state: z.string(),
    approval: z.array(z.string()).describe("why an approver has to order it; empty: an operator may"),
    moves: z.array(
      z.object({
        workspace: z.string(),
        to: z.string(),
        refusal: z.string().nullable().describe("what speaks against a live move of it now; null: nothing"),
      }),
    ),
    stay: z.array(z.object({ workspace: z.string(), why: z.string() })).describe("what no other instance can take now"),
    refusal: z.string().nullable().describe("what speaks against emptying it at all, with what to do instead; null: nothing"),
    text: z.array(z.string()).describe("the plan as sentences"),
  })
  .meta({ id: "DrainDryRun" });
const named = z.object({ instance: z.string().max(253) });
const body = z.strictObject({
  reason: z.string().trim().min(1).max(500).default("no reason given").describe("why, for the journal and for whoever asks later"),
  failOver: z
    .boolean()
    .default(false)
    .describe("by fail-over: the instance is not contacted, because nobody reaches it; moves to it are given up where they still can be"),
  force: z
    .boolean()
    .default(false)
    .describe(
      "also where no other instance of its class takes workspaces: until one does, everything stays where it is, and new workspaces wait",
    ),
});
const tried = body.pick({ failOver: true, force: true });
export type DrainView = z.infer<typeof drain>;
export type DrainDryRunView = z.infer<typeof dryRun>;

/** How far the emptying of an instance is. */
export function addDrainViews(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/instances/:instance/drain",
    {
      schema: {
        operationId: "readDrain",
        summary: "How far the emptying of an instance is",
        security,
        params: named,
        response: { 200: drain },
      },
    },
    async ({ params }) => viewOf(deps, await findInstance(deps, params.instance, deadline())),
  );
}

/** Emptying instances. */
export function addDrainRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.post(
    "/v1/instances/:instance/drain",
    {
      schema: {
        operationId: "drainInstance",
        summary:
          "Sends everything an instance holds to others by live moves, and nobody there any more; asked again it tries again what is left",
        security,
        params: named,
        body,
        response: { 200: drain },
      },
    },
    async ({ params, body: { reason, failOver, force }, actor, role }, reply) => {
      const instance = await findInstance(deps, params.instance, deadline());
      const names = instance.state === "DRAINING" ? undefined : deps.planning.names(await deps.draining.draft(instance, actor, deadline()));
      if (names !== undefined && names.approval.length > 0 && !includesRole(role, "approver")) {
        const detail = tooMuch(`emptying ${instance.name} moves much (${names.approvalText})`, { actor, role });
        return sendProblem(reply, problem({ status: 403, code: "api.role", detail }));
      }
      await deps.draining.begin(instance, { actor, reason, isFailOver: failOver, isForced: force }, deadline());
      return viewOf(deps, await findInstance(deps, instance.id, deadline()));
    },
  );
  app.post(
    "/v1/instances/:instance/drain/dry-run",
    {
      schema: {
        operationId: "tryDrain",
        summary: "Says where everything on an instance would go, and what speaks against it",
        security,
        params: named,
        body: tried,
        response: { 200: dryRun },
      },
    },
    async ({ params, body: { failOver, force }, actor }) => {
      const instance = await findInstance(deps, params.instance, deadline());
      const plan = await deps.draining.draft(instance, actor, deadline());
      return dryRunOf(deps, instance, plan, { isFailOver: failOver || instance.failsOver, isForced: force });
    },
  );
}

async function viewOf(deps: ApiDeps, instance: Instance): Promise<DrainView> {
  const { store, clock, draining } = deps;
  const { id, name, state, stateSince } = instance;
  const isLeaving = state === "DRAINING" || state === "RETIRED";
  // A name is never used again: of one that is gone, all that was ever sent away from it.
  const since = state === "RETIRED" ? millis(0) : stateSince;
  const steps = isLeaving ? await store.plans.listSteps({ drained: name, since }, deadline()) : [];
  const moves = isLeaving ? await store.moves.list({ instanceId: id }, MOVES_READ, deadline()) : [];
  const names = new Map<string, string>((await store.fleet.listInstances(deadline())).map((one) => [one.id, one.name]));
  const progress = progressViewOf(steps, { moves: movesById(moves), nameOf: (one) => names.get(one) ?? one, now: clock.now() });
  const units = (await store.fleet.countUnits(deadline())).get(id) ?? 0;
  return { ...progress, instance: name, state, units, failOver: instance.failsOver, budget: draining.budget };
}

async function dryRunOf(
  { store, planning, moving, draining }: ApiDeps,
  instance: Instance,
  plan: StoredPlan,
  { isFailOver, isForced }: { readonly isFailOver: boolean; readonly isForced: boolean },
): Promise<DrainDryRunView> {
  const names = planning.names(plan);
  const instances = await store.fleet.listInstances(deadline());
  const leaving = plan.moves.filter(({ from }) => from === instance.id);
  const moves = leaving.map(async ({ unit, to }) => {
    const row = await store.placements.readUnit(unit, deadline());
    const target = instances.find(({ id }) => id === to);
    const takesLive = row !== undefined && target !== undefined && names.isDeployed(unit);
    const refusal = takesLive ? await moving.whyNot({ unit: row.unit, target, isFailOver }, deadline()) : undefined;
    return { workspace: names.unit(unit), to: names.instance(to), refusal: refusal?.text ?? null };
  });
  return {
    ...{ instance: instance.name, state: instance.state, approval: [...names.approval] },
    moves: await Promise.all(moves),
    stay: stayView(draining.staying(plan, instance)),
    refusal: isForced ? null : ((await draining.whyLast(instance, deadline())) ?? null),
    text: [...planning.describe(plan)],
  };
}

function stayView(steps: ReturnType<ApiDeps["draining"]["staying"]>): DrainDryRunView["stay"] {
  return steps.map(({ name, why }) => ({ workspace: name, why })).sort((a, b) => (a.workspace < b.workspace ? -1 : 1));
}
