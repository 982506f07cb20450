import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { rfc3339 } from "../../domain/clock.ts";
import { GoneError, InputError } from "../../domain/errors.ts";
import type { PlanId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { MOVE_REASONS, PLAN_GOALS, type PlanGoal, type PlannedMove, type StoredPlan } from "../../domain/plan.ts";
import { includesRole } from "../auth.ts";
import { findByPrefix, findInstance } from "../find.ts";
import { isWithin } from "../identity/scope.ts";
import type { ApiDeps } from "../port.ts";
import { problem, sendProblem, tooMuch } from "../problem.ts";
import { movesById, type ProgressView, progressText, progressView, progressViewOf } from "../step-views.ts";

const security = [{ token: [] }];
/** A plan for a hundred thousand units takes seconds. */
const deadline = () => AbortSignal.timeout(50_000);
const time = z.iso.datetime();
/** More than a plan has steps, each tried a few times. */
const MOVES_READ = 100_000;

const plannedMove = z.object({
  unit: z.string(),
  workspace: z.string().describe("its namespace when the plan was made"),
  from: z.string().nullable().describe("name of the instance; null: it had none"),
  to: z.string(),
  reason: z.enum(MOVE_REASONS),
  takesLiveMove: z.boolean().describe("something of it was deployed"),
});
const planSummary = z
  .object({
    id: z.string(),
    class: z.string(),
    goal: z.enum(PLAN_GOALS),
    subject: z.string().describe("the instance or pool the goal is about; empty for rebalance"),
    actor: z.string(),
    createdAt: time,
    expiresAt: time,
    appliedAt: time.nullable(),
    approval: z.array(z.string()).describe("why an approver has to carry it out; empty: an operator may"),
    moves: z.array(plannedMove),
  })
  .meta({ id: "PlanSummary" });
const plan = planSummary
  .extend({
    snapshotHash: z.string().describe("of everything it was made from"),
    planHash: z.string().describe("of that and its moves: the same snapshot gives the same plan"),
    report: z
      .record(z.string(), z.unknown())
      .describe("balance before and after, cost, least cost, what blocked it, who was left; shares in millionths"),
    records: z.array(z.unknown()).describe("what each choice rests on: asked again, it gives the same answer"),
    holds: z.boolean().describe("whether each choice, asked again, gives the recorded answer"),
    progress: progressView.nullable().describe("how far it is; null: it was not carried out"),
    text: z.array(z.string()).describe("the same as sentences"),
  })
  .meta({ id: "Plan" });
const applied = progressView.extend({ plan: z.string() }).meta({ id: "AppliedPlan" });
const goalBody = z.strictObject({
  goal: z.enum(PLAN_GOALS).default("rebalance"),
  subject: z.string().max(253).default("").describe("an instance to drain or remove, a pool to add an instance to"),
  class: z.string().max(253).optional().describe("only of this class; all of them when absent"),
});
export type PlanSummary = z.infer<typeof planSummary>;
export type PlanView = z.infer<typeof plan>;
export type AppliedPlan = z.infer<typeof applied>;

/** Plans as they are kept. */
export function addPlanViews(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/v1/plans",
    {
      schema: {
        operationId: "listPlans",
        summary: "Plans of what should move, newest first",
        security,
        querystring: z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) }),
        response: { 200: z.object({ items: z.array(planSummary) }) },
      },
    },
    async ({ query, scopes }) => {
      const found = await deps.store.plans.list({}, scopes === undefined ? query.limit : PLANS_READ, deadline());
      const shown = found.filter((stored) => isWithin(scopes, { kind: "class", class: stored.class }));
      return { items: shown.slice(0, query.limit).map((stored) => summaryOf(deps, stored)) };
    },
  );
  app.get(
    "/v1/plans/:plan",
    {
      schema: {
        operationId: "readPlan",
        summary: "A plan with its report and what each choice rests on",
        security,
        params: z.object({ plan: z.string().max(253) }),
        response: { 200: plan },
      },
    },
    async ({ params }) => {
      const stored = await readPlan(deps, params.plan);
      return viewOf(deps, stored, stored.appliedAt === undefined ? null : await progressOf(deps, stored));
    },
  );
}

/** Making plans, and carrying them out. */
export function addPlanRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.post(
    "/v1/plans",
    {
      schema: {
        operationId: "makePlan",
        summary: "Plans what should move, class by class; carries nothing out",
        security,
        body: goalBody,
        response: { 200: z.object({ items: z.array(plan) }) },
      },
    },
    async ({ body, actor }) => ({ items: (await makePlans(deps, { ...body, actor })).map((stored) => viewOf(deps, stored, null)) }),
  );
  app.post(
    "/v1/plans/:plan/apply",
    {
      schema: {
        operationId: "applyPlan",
        summary: "Carries out each step of a plan that still holds; for a unit of which something is deployed it requests a live move",
        security,
        params: z.object({ plan: z.string().max(253) }),
        response: { 200: applied },
      },
    },
    async ({ params, actor, role }, reply) => {
      const stored = await readPlan(deps, params.plan);
      const { approval, approvalText } = deps.planning.names(stored);
      if (approval.length > 0 && !includesRole(role, "approver")) {
        const detail = tooMuch(`plan ${stored.id} moves much (${approvalText})`, { actor, role });
        return sendProblem(reply, problem({ status: 403, code: "api.role", detail }));
      }
      await deps.planning.apply(stored.id, { actor }, deadline());
      return { plan: stored.id, ...(await progressOf(deps, stored)) };
    },
  );
}

/** More than people make while plans are kept. */
const PLANS_READ = 1000;

async function readPlan({ store }: ApiDeps, id: string): Promise<StoredPlan> {
  const exact = await store.plans.read(id as PlanId, deadline());
  const stored = exact ?? findByPrefix("plan", id, await store.plans.list({}, PLANS_READ, deadline()));
  if (stored !== undefined) return stored;
  throw new GoneError(`there is no plan ${id}; \`argosy get plans\` lists them`, { code: "api.no-plan", context: { plan: id } });
}

interface Wanted {
  readonly goal: PlanGoal;
  readonly subject: string;
  readonly class?: string | undefined;
  readonly actor: string;
}

async function makePlans(deps: ApiDeps, { goal, subject, actor, class: only }: Wanted): Promise<readonly StoredPlan[]> {
  const { planning, store } = deps;
  if (goal !== "rebalance") {
    const instance = await instanceFor(deps, goal, subject);
    return [await planning.plan(instance.class, { kind: goal, instance, subject, actor }, deadline())];
  }
  if (subject !== "")
    throw new InputError("evens out whole classes", {
      code: "plan.goal",
      path: "subject",
      remedy: "Leave the name out, or name a class",
    });
  const classes = await store.plans.listClasses(deadline());
  if (only !== undefined && !classes.includes(only))
    throw new InputError(`there is no class ${only}`, { code: "plan.subject", path: "class", remedy: `Use one of ${classes.join(", ")}` });
  const wanted = only === undefined ? classes : [only];
  return Promise.all(wanted.map((name) => planning.plan(name, { kind: "rebalance", subject: "", actor }, deadline())));
}

/** The instance a goal is about; of a pool that is to get one more, one it has. */
async function instanceFor(deps: ApiDeps, goal: PlanGoal, subject: string): Promise<Instance> {
  if (subject === "") {
    const remedy = goal === "add" ? "Name a pool" : "Name an instance";
    throw new InputError(`does not say what to ${goal}`, { code: "plan.goal", path: "subject", remedy });
  }
  if (goal !== "add") return findInstance(deps, subject, deadline());
  const instances = await deps.store.fleet.listInstances(deadline());
  const found = instances.find(({ pool, state }) => pool === subject && state !== "RETIRED");
  if (found !== undefined) return found;
  const pools = [...new Set(instances.filter(({ state }) => state !== "RETIRED").map(({ pool }) => pool))].sort();
  throw new InputError(`there is no pool ${subject} with an instance`, {
    code: "plan.subject",
    path: "subject",
    remedy: pools.length === 0 ? "Declare one in fleet.yaml" : `Use one of ${pools.join(", ")}`,
  });
}

function moveOf({ planning }: ApiDeps, stored: StoredPlan, { unit, from, to, reason }: PlannedMove): z.infer<typeof plannedMove> {
  const names = planning.names(stored);
  return {
    ...{ unit, workspace: names.unit(unit), to: names.instance(to), reason, takesLiveMove: names.isDeployed(unit) },
    from: from === undefined ? null : names.instance(from),
  };
}

function summaryOf(deps: ApiDeps, stored: StoredPlan): PlanSummary {
  const { id, goal, subject, actor, createdAt, expiresAt, appliedAt, moves } = stored;
  return {
    ...{ id, class: stored.class, goal, subject, actor, createdAt: rfc3339(createdAt), expiresAt: rfc3339(expiresAt) },
    appliedAt: appliedAt === undefined ? null : rfc3339(appliedAt),
    approval: [...deps.planning.names(stored).approval],
    moves: moves.map((move) => moveOf(deps, stored, move)),
  };
}

async function progressOf({ store, planning, clock }: ApiDeps, stored: StoredPlan): Promise<ProgressView> {
  const steps = await store.plans.listSteps({ plan: stored.id }, deadline());
  const moves = movesById(await store.moves.list({ plan: stored.id }, MOVES_READ, deadline()));
  return progressViewOf(steps, { moves, nameOf: planning.names(stored).instance, now: clock.now() });
}

function viewOf(deps: ApiDeps, stored: StoredPlan, progress: ProgressView | null): PlanView {
  const { snapshotHash, planHash, report, records } = stored;
  const text = [...deps.planning.describe(stored), ...(progress === null ? [] : progressText(progress))];
  return {
    ...summaryOf(deps, stored),
    snapshotHash,
    planHash,
    report: { ...report },
    records: [...records],
    holds: deps.planning.review(stored),
    progress,
    text,
  };
}
