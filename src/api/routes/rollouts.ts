import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { GoneError } from "../../domain/errors.ts";
import type { RolloutId } from "../../domain/ids.ts";
import { ROLLOUT_MODES, type Rollout } from "../../domain/rollout.ts";
import type { Store } from "../../store/port.ts";
import { includesRole } from "../auth.ts";
import { findByPrefix } from "../find.ts";
import { classesOfPool } from "../identity/route-subjects.ts";
import { isWithin, type Scopes } from "../identity/scope.ts";
import type { ApiDeps } from "../port.ts";
import { problem, sendProblem } from "../problem.ts";
import { rolloutDraftView, rolloutView, viewOfDraft, viewOfRollout } from "../rollout-views.ts";
import { versionView, versionViews } from "../version-views.ts";

const security = [{ token: [] }];
const deadline = () => AbortSignal.timeout(30_000);
/** More than a fleet has in a year. */
const ROLLOUTS_READ = 100;
const DAY_S = 24 * 3600;

const reason = z.string().trim().min(1).max(500).default("no reason given").describe("why, for the journal and for whoever asks later");
const named = z.object({ rollout: z.string().max(253) });
const release = z.object({ version: z.string().max(253) });
const order = z.strictObject({
  version: z.string().max(253),
  pool: z.string().max(253).nullish().describe("only instances of this pool"),
  mode: z
    .enum(ROLLOUT_MODES)
    .default("in-place")
    .describe("drain: what instances hold is handed over, once, to those that have the release, and they get it empty"),
  emergency: z.boolean().default(false).describe("short bakes, freezes do not hold it up; needs approver"),
  unattended: z
    .boolean()
    .default(false)
    .describe("goes on by itself where there are too few syncs to judge by, and those do not speak against the release"),
  bakeSeconds: z
    .number()
    .int()
    .min(0)
    .max(30 * DAY_S)
    .nullish()
    .describe("how long each wave bakes; at least as long as Argo CD takes to compare everything"),
  reason,
});
const COMMANDS = [
  { command: "pause", operationId: "pauseRollout", summary: "Upgrades nothing more; instances that were upgraded are still watched" },
  { command: "resume", operationId: "resumeRollout", summary: "Goes on with a rollout that was paused" },
  {
    command: "abort",
    operationId: "abortRollout",
    summary: "Rolls the present wave back and ends the rollout; waves before it keep the release",
  },
  {
    command: "approve",
    operationId: "approveRollout",
    summary: "Approves a wave whose syncs were too few to judge it by; needs approver",
  },
] as const;

/** Read-only routes for rollouts and releases. */
export function addRolloutViews(server: FastifyInstance, { store }: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/v1/versions",
    {
      schema: {
        operationId: "listVersions",
        summary: "Releases of Argo CD that are catalogued, run or are frozen, newest first",
        security,
        response: { 200: z.object({ items: z.array(versionView) }) },
      },
    },
    async () => {
      const [declared, instances] = [await store.fleet.readFleet(deadline()), await store.fleet.listInstances(deadline())];
      return { items: [...versionViews(declared?.spec, instances, await store.rollouts.listFrozen(deadline()))] };
    },
  );
  app.get(
    "/v1/rollouts",
    {
      schema: {
        operationId: "listRollouts",
        summary: "Rollouts of releases, newest first",
        security,
        response: { 200: z.object({ items: z.array(rolloutView) }) },
      },
    },
    async ({ scopes }) => ({ items: (await rolloutsWithin(store, scopes)).map(viewOfRollout) }),
  );
  app.get(
    "/v1/rollouts/:rollout",
    { schema: { operationId: "readRollout", summary: "One rollout", security, params: named, response: { 200: rolloutView } } },
    async ({ params }) => viewOfRollout(await readRollout(store, params.rollout)),
  );
}

/** Orders about rollouts. */
export function addRolloutRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const { rollouts } = deps;
  app.post(
    "/v1/rollouts",
    {
      schema: {
        operationId: "createRollout",
        summary: "Begins to give a release to instances, wave by wave",
        security,
        body: order,
        response: { 200: rolloutView },
      },
    },
    async ({ body, actor, role }, reply) => {
      if (body.emergency && !includesRole(role, "approver"))
        return sendProblem(reply, needsApprover("an emergency rollout", { actor, role }));
      return viewOfRollout(await rollouts.create(orderOf(body, actor), deadline()));
    },
  );
  app.post(
    "/v1/rollouts/dry-run",
    {
      schema: {
        operationId: "tryRollout",
        summary: "Says which waves a rollout would have, and does nothing",
        security,
        body: order,
        response: { 200: rolloutDraftView },
      },
    },
    async ({ body, actor }) => viewOfDraft(await rollouts.draft(orderOf(body, actor), deadline())),
  );
  for (const { command, operationId, summary } of COMMANDS)
    app.post(
      `/v1/rollouts/:rollout/${command}`,
      { schema: { operationId, summary, security, params: named, body: z.strictObject({ reason }), response: { 200: rolloutView } } },
      async ({ params, body, actor, role }, reply) => {
        if (command === "approve" && !includesRole(role, "approver"))
          return sendProblem(reply, needsApprover("approving a wave", { actor, role }));
        const { id } = await readRollout(deps.store, params.rollout);
        return viewOfRollout(await rollouts.command(id, { command, actor, reason: body.reason }, deadline()));
      },
    );
  app.post(
    "/v1/versions/:version/unfreeze",
    {
      schema: {
        operationId: "unfreezeVersion",
        summary: "Lets a release that failed be tried again; needs approver",
        security,
        params: release,
        response: { 200: release },
      },
    },
    async ({ params: { version }, actor, role }, reply) => {
      if (!includesRole(role, "approver")) return sendProblem(reply, needsApprover("unfreezing a release", { actor, role }));
      await rollouts.unfreeze(version, actor, deadline());
      return { version };
    },
  );
}

/** One of all pools is seen by who may see all of them. */
async function rolloutsWithin(store: Store, scopes: Scopes): Promise<readonly Rollout[]> {
  const found = await store.rollouts.list(ROLLOUTS_READ, deadline());
  if (scopes === undefined) return found;
  const [instances, declared] = [await store.fleet.listInstances(deadline()), await store.fleet.readFleet(deadline())];
  return found.filter(({ pool }) => {
    const classes = pool === undefined ? [] : classesOfPool(pool, { instances, pools: declared?.spec.pools ?? [] });
    return classes.length > 0 && classes.every((one) => isWithin(scopes, { kind: "class", class: one }));
  });
}

async function readRollout({ rollouts }: Pick<Store, "rollouts">, id: string): Promise<Rollout> {
  const exact = await rollouts.read(id as RolloutId, deadline());
  const rollout = exact ?? findByPrefix("rollout", id, await rollouts.list(ROLLOUTS_READ, deadline()));
  if (rollout !== undefined) return rollout;
  throw new GoneError(`there is no rollout ${id}; \`argosy rollout list\` lists them`, {
    code: "rollout.unknown",
    context: { rollout: id },
  });
}

function needsApprover(what: string, { actor, role }: { readonly actor: string; readonly role: string }) {
  return problem({ status: 403, code: "api.role", detail: `${what}: token ${actor} has role ${role}, this needs approver` });
}

function orderOf({ version, pool, mode, emergency, unattended, bakeSeconds, reason: why }: z.infer<typeof order>, actor: string) {
  const bakeMs = bakeSeconds == null ? undefined : bakeSeconds * 1000;
  return { version, pool: pool ?? undefined, mode, isEmergency: emergency, isUnattended: unattended, bakeMs, actor, reason: why };
}
