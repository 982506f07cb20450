import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { millis } from "../../domain/clock.ts";
import { cordonedBy, isCordonedByHand } from "../../domain/cordon.ts";
import { type Assignment, type Freeze, freezeSubject, type Hold, type Pin } from "../../domain/directive.ts";
import { GoneError, InputError, RefusedError } from "../../domain/errors.ts";
import { classOf, readClass } from "../../domain/fleet.ts";
import type { Instance } from "../../domain/instance.ts";
import { nearest } from "../../domain/nearest.ts";
import type { Workspace } from "../../domain/workspace.ts";
import { includesRole } from "../auth.ts";
import { findInstance, findWorkspace } from "../find.ts";
import type { Scopes } from "../identity/scope.ts";
import type { ApiDeps } from "../port.ts";
import { problem, sendProblem, tooMuch } from "../problem.ts";
import { directiveViewSchema, freezeViewSchema } from "../schema.ts";
import * as views from "../views.ts";
import { whyNotPin } from "../why-not-pin.ts";

const security = [{ token: [] }];
const deadline = () => AbortSignal.timeout(30_000);
/** Longer than a quarter of a year nobody remembers why something must not move. */
const LONGEST_S = 90 * 24 * 3600;
/** A freeze that begins anew while it lasts is for ever; the planner takes windows to last a month at most. */
const LONGEST_FREEZE_S = 31 * 24 * 3600;

const reason = z.string().trim().min(1).max(500).describe("why, for the journal and for whoever asks later");
const workspace = z.object({ workspace: z.string().max(253).describe("its namespace") });
const freezeName = z.object({ name: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/) });
const pinBody = z.strictObject({ instance: z.string().max(253).nullish(), pool: z.string().max(253).nullish(), reason });
const holdBody = z.strictObject({ seconds: z.number().int().min(1).max(LONGEST_S).nullable(), reason });
const assignBody = z.strictObject({ class: z.string().max(253).nullable(), reason });
const cordonBody = z.strictObject({ cordoned: z.boolean(), reason });
const freezeBody = z.strictObject({
  seconds: z.number().int().min(60).max(LONGEST_FREEZE_S),
  schedule: z.string().max(200).nullish().describe("five fields as cron has them, in UTC; null: it begins now, once"),
  reason,
});
const cordoned = z.object({ instance: z.string(), state: z.string(), changed: z.boolean() }).meta({ id: "Cordoned" });

/** Orders people give about where workspaces live, which instances take new ones, and when nothing moves. */
export function addDirectiveRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const describe = <Body extends z.ZodType, Params extends z.ZodType>(
    operationId: string,
    summary: string,
    { body, params }: { readonly body: Body; readonly params: Params },
  ) => ({ operationId, summary, security, params, body });
  app.put(
    "/v1/workspaces/:workspace/pin",
    {
      schema: {
        ...describe("pinWorkspace", "Says on which instance, or which pool's, a workspace lives; both null: on any", {
          body: pinBody,
          params: workspace,
        }),
        response: { 200: directiveViewSchema },
      },
    },
    async ({ params, body, actor }) => pin(deps, params.workspace, { ...body, actor }),
  );
  app.put(
    "/v1/workspaces/:workspace/hold",
    {
      schema: {
        ...describe("holdWorkspace", "Says for how long a workspace is not moved unless it must be; null: it may be", {
          body: holdBody,
          params: workspace,
        }),
        response: { 200: directiveViewSchema },
      },
    },
    async ({ params, body, actor }) => hold(deps, params.workspace, { ...body, actor }),
  );
  app.put(
    "/v1/workspaces/:workspace/class",
    {
      schema: {
        ...describe(
          "assignWorkspace",
          "Says which class a workspace has, whatever labels of its namespace ask for; null: these decide. Another trust needs approver",
          { body: assignBody, params: workspace },
        ),
        response: { 200: directiveViewSchema },
      },
    },
    async ({ params, body, actor, role }, reply) => {
      const found = await findWorkspace(deps, params.workspace, deadline());
      if (body.class !== null) await refuseUnserved(deps, body.class);
      const stranger = otherTrust(found.workspace, body.class);
      if (stranger !== undefined && !includesRole(role, "approver")) {
        const detail = tooMuch(`workspace ${params.workspace} would live with those of trust ${stranger}`, { actor, role });
        return sendProblem(reply, problem({ status: 403, code: "api.role", detail }));
      }
      return assign(deps, found.workspace, { ...body, actor });
    },
  );
  app.put(
    "/v1/instances/:instance/cordon",
    {
      schema: {
        ...describe(
          "cordonInstance",
          "Says whether an instance takes new units; one that is being emptied takes them again, and what waits to leave it stays",
          {
            body: cordonBody,
            params: z.object({ instance: z.string().max(253) }),
          },
        ),
        response: { 200: cordoned },
      },
    },
    async ({ params, body, actor }) => cordon(deps, params.instance, { ...body, actor }),
  );
  app.put(
    "/v1/freezes/:name",
    {
      schema: {
        ...describe("putFreeze", "Makes or replaces a time in which nothing is moved that need not be", {
          body: freezeBody,
          params: freezeName,
        }),
        response: { 200: freezeViewSchema },
      },
    },
    async ({ params, body, actor }) => freeze(deps, params.name, { ...body, actor }),
  );
  app.delete(
    "/v1/freezes/:name",
    {
      schema: { operationId: "deleteFreeze", summary: "Takes a freeze back", security, params: freezeName, response: { 200: freezeName } },
    },
    async ({ params, actor }) => thaw(deps, params.name, actor),
  );
}

export function addFreezeList(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/freezes",
    {
      schema: {
        operationId: "listFreezes",
        summary: "Times in which nothing is moved that need not be",
        security,
        response: { 200: z.object({ items: z.array(freezeViewSchema) }) },
      },
    },
    async ({ scopes }) => {
      const freezes = await deps.store.directives.listFreezes(deadline());
      return { items: seesFreezes(scopes) ? freezes.map(views.freezeView) : [] };
    },
  );
}

/** They hold up whole classes. Their reasons may name anybody, and are for who sees everybody of a class. */
function seesFreezes(scopes: Scopes): boolean {
  return scopes === undefined || scopes.some(({ classes, workspaces }) => classes !== undefined && workspaces === undefined);
}

interface Order {
  readonly actor: string;
  readonly reason: string;
}

async function pin(
  deps: ApiDeps,
  namespace: string,
  {
    actor,
    reason: why,
    instance,
    pool,
  }: Order & { readonly instance?: string | null | undefined; readonly pool?: string | null | undefined },
) {
  if (instance && pool)
    throw new InputError("names an instance and a pool", { code: "api.pin", path: "pin", remedy: "Give one of the two" });
  const { workspace: found, units } = await findWorkspace(deps, namespace, deadline());
  const said = { actor, reason: why, at: deps.clock.now() };
  const target = instance
    ? ({ kind: "instance", instance: await findInstance(deps, instance, deadline()) } as const)
    : pool
      ? ({ kind: "pool", pool } as const)
      : undefined;
  const instances = await deps.store.fleet.listInstances(deadline());
  const rows = await Promise.all(units.map(({ id }) => deps.store.placements.readUnit(id, deadline())));
  const strangers = rows.flatMap((row) => row?.strangers ?? []);
  const problem = target && whyNotPin({ target, units, instances, strangers });
  if (problem) throw new InputError(problem.message, { code: "api.pin", path: "pin", remedy: problem.remedy });
  const order: Pin | undefined = target && {
    ...said,
    ...(target.kind === "pool" ? target : { kind: "instance", instance: target.instance.id }),
  };
  const details = { actor, reason: why, namespace, ...(instance ? { instance } : {}), ...(pool ? { pool } : {}) };
  const decision = {
    at: said.at,
    subject: found.id,
    kind: "directive",
    verdict: order ? "PINNED" : "UNPINNED",
    rule: "COMMAND",
    details,
  } as const;
  await deps.store.directives.direct({ workspaceId: found.id, change: { pin: order }, decision }, deadline());
  return views.directiveView(await deps.store.directives.read(found.id, deadline()), views.namesOf(instances));
}

async function hold(deps: ApiDeps, namespace: string, { actor, reason: why, seconds }: Order & { readonly seconds: number | null }) {
  const { workspace: found } = await findWorkspace(deps, namespace, deadline());
  const at = deps.clock.now();
  const order: Hold | undefined = seconds === null ? undefined : { actor, reason: why, at, until: millis(at + seconds * 1000) };
  const details = { actor, reason: why, namespace, until: order?.until ?? null };
  const decision = { at, subject: found.id, kind: "directive", verdict: order ? "HELD" : "RELEASED", rule: "COMMAND", details } as const;
  await deps.store.directives.direct({ workspaceId: found.id, change: { hold: order }, decision }, deadline());
  const instances = await deps.store.fleet.listInstances(deadline());
  return views.directiveView(await deps.store.directives.read(found.id, deadline()), views.namesOf(instances));
}

/** The trust of a class, where a workspace has another one: who may live together is for two kinds of people. */
function otherTrust({ trustClass }: Pick<Workspace, "trustClass">, className: string | null): string | undefined {
  const trust = className === null ? trustClass : readClass(className).trust;
  return trust === trustClass ? undefined : trust;
}

async function assign(
  deps: ApiDeps,
  { id, namespace }: Workspace,
  { actor, reason: why, class: to }: Order & { readonly class: string | null },
) {
  const at = deps.clock.now();
  const order: Assignment | undefined = to === null ? undefined : { actor, reason: why, at, class: to };
  const details = { actor, reason: why, namespace, class: to };
  const verdict = order ? "ASSIGNED" : "UNASSIGNED";
  const decision = { at, subject: id, kind: "directive", verdict, rule: "COMMAND", details } as const;
  await deps.store.directives.direct({ workspaceId: id, change: { assigned: order }, decision }, deadline());
  const instances = await deps.store.fleet.listInstances(deadline());
  return views.directiveView(await deps.store.directives.read(id, deadline()), views.namesOf(instances));
}

/** A class that no pool has is one that nobody ever serves. */
async function refuseUnserved({ store }: ApiDeps, to: string): Promise<void> {
  const served = [...new Set(((await store.fleet.readFleet(deadline()))?.spec.pools ?? []).map(classOf))];
  if (served.includes(to)) return;
  const meant = nearest(to, served);
  const remedy = meant === undefined ? `Choose one of ${served.join(", ")}` : `Did you mean ${meant}?`;
  throw new InputError(`${to} is the class of no pool`, { code: "api.class", path: "class", remedy });
}

async function cordon(deps: ApiDeps, name: string, { actor, reason: why, cordoned: isWanted }: Order & { readonly cordoned: boolean }) {
  const instance = await findInstance(deps, name, deadline());
  const { id, revision, attempt } = instance;
  const problem = whyNotCordon(instance, isWanted);
  if (problem !== undefined)
    throw new RefusedError(`instance ${instance.name} ${problem}`, { code: "api.cordon", context: { instance: instance.name } });
  if (isWanted ? isCordonedByHand(instance) : instance.state === "ACTIVE")
    return { instance: instance.name, state: instance.state, changed: false };
  const state = isWanted ? "CORDONED" : "ACTIVE";
  const because = isWanted ? cordonedBy(actor, why) : { reason: `uncordoned by ${actor}: ${why}`, cause: undefined };
  const details = { name: instance.name, pool: instance.pool, reason: because.reason, actor };
  const decision = { at: deps.clock.now(), subject: id, kind: "instance", verdict: state, rule: "COMMAND", details } as const;
  await deps.store.fleet.changeInstance({ id, revision, state, ...because, attempt, failsOver: false, decision }, deadline());
  // What is under way goes on: its target has reserved capacity for it, and it can be taken back.
  if (instance.state === "DRAINING") await deps.moving.giveUp(id, "that wait to drain it", actor, deadline());
  return { instance: instance.name, state, changed: true };
}

/** Why an instance cannot be cordoned, or uncordoned, by hand; `undefined` when it can. */
function whyNotCordon(instance: Instance, isWanted: boolean): string | undefined {
  const { state, reason: text, halt } = instance;
  if (state === "DRAINING" && !isWanted) return halt === "none" ? undefined : "is being stopped for good: nothing starts it again";
  if (state !== "ACTIVE" && state !== "CORDONED") return `is ${state}: only one that serves can be cordoned or uncordoned`;
  if (isWanted || state === "ACTIVE" || isCordonedByHand(instance)) return undefined;
  return `was not cordoned by a person: ${text}. Ask for more instances of its pool in fleet.yaml`;
}

async function freeze(
  deps: ApiDeps,
  name: string,
  { actor, reason: why, seconds, schedule }: Order & { readonly seconds: number; readonly schedule?: string | null | undefined },
) {
  if (schedule && !deps.isSchedule(schedule))
    throw new InputError(`${schedule} is no schedule`, {
      code: "api.schedule",
      path: "schedule",
      remedy: "Give five fields as cron has them, e.g. 0 18 * * 5 for Fridays at 18:00 UTC",
    });
  const at = deps.clock.now();
  const order: Freeze = { name, schedule: schedule ?? undefined, durationMs: seconds * 1000, actor, reason: why, at };
  const details = { actor, reason: why, schedule: order.schedule ?? null, seconds };
  const decision = { at, subject: freezeSubject(name), kind: "directive", verdict: "FROZEN", rule: "COMMAND", details } as const;
  await deps.store.directives.putFreeze(order, decision, deadline());
  return views.freezeView(order);
}

async function thaw(deps: ApiDeps, name: string, actor: string) {
  const at = deps.clock.now();
  const decision = { at, subject: freezeSubject(name), kind: "directive", verdict: "THAWED", rule: "COMMAND", details: { actor } } as const;
  if (await deps.store.directives.dropFreeze(name, decision, deadline())) return { name };
  throw new GoneError(`there is no freeze ${name}; \`argosy freeze list\` lists them`, { code: "api.no-freeze", context: { name } });
}
