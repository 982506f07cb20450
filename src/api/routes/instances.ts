import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { RefusedError } from "../../domain/errors.ts";
import type { Instance } from "../../domain/instance.ts";
import type { InstanceChange } from "../../store/fleet/port.ts";
import { againWhenStale } from "../again-when-stale.ts";
import { findInstance } from "../find.ts";
import { type InstanceOrder, planCreation, planDeletion } from "../instance-orders.ts";
import type { ApiDeps } from "../port.ts";
import { readPools } from "../read-pools.ts";

const security = [{ token: [] }];
const deadline = () => AbortSignal.timeout(30_000);

const dryRun = z.boolean().default(false).describe("only say what it comes to");
const said = z.strictObject({
  reason: z.string().trim().min(1).max(500).default("no reason given").describe("why, for the journal and for whoever asks later"),
  dryRun,
});
const answer = z
  .object({
    instance: z.string(),
    pool: z.string(),
    change: z.enum(["created", "retired", "none"]),
    dryRun: z.boolean(),
    min: z
      .object({ before: z.number().int(), after: z.number().int() })
      .nullable()
      .describe("instances its pool asks for; null: nothing changes about that"),
    text: z.string().describe("why nothing is changed, or what is"),
  })
  .meta({ id: "InstanceOrder" });
export type InstanceOrderView = z.infer<typeof answer>;

/** Making an instance, and letting one go, by its name. */
export function addInstanceOrders(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.post(
    "/v1/instances",
    {
      schema: {
        operationId: "createInstance",
        summary: "Asks for one more instance in a pool, by the name that it gets; a repeated request changes nothing",
        security,
        body: z.strictObject({ name: z.string().min(1).max(63), dryRun }),
        response: { 200: answer },
      },
    },
    async ({ body, actor }) => againWhenStale(() => create(deps, body.name, { actor, ...body })),
  );
  app.post(
    "/v1/instances/:instance/retire",
    {
      schema: {
        operationId: "retireInstance",
        summary: "Retires an instance that serves nobody, and asks for no other in its place; a repeated request changes nothing",
        security,
        params: z.object({ instance: z.string().max(253) }),
        body: said,
        response: { 200: answer },
      },
    },
    async ({ params, body, actor }) => retire(deps, params.instance, { actor, ...body }),
  );
}

const WORDS = { created: "asked for", retired: "let go" } as const;

interface Order {
  readonly actor: string;
  readonly reason: string;
  readonly dryRun: boolean;
}

async function create(deps: ApiDeps, name: string, { actor, dryRun }: Omit<Order, "reason">): Promise<InstanceOrderView> {
  const facts = await readPools(deps, deadline());
  if (facts === undefined) refuse("no fleet is declared: `argosy apply -f fleet.yaml` declares one");
  const order = planCreation(name, facts, facts.planned);
  if (order.kind === "carry-out" && order.spec !== undefined && !dryRun)
    await deps.store.fleet.changeFleet({ spec: order.spec, actor, revision: facts.revision }, deadline());
  return viewOf(name, order, { change: "created", dryRun });
}

async function retire(deps: ApiDeps, named: string, { actor, reason, dryRun }: Order): Promise<InstanceOrderView> {
  const { store } = deps;
  const instance = await findInstance(deps, named, deadline());
  const units = (await store.fleet.countUnits(deadline())).get(instance.id) ?? 0;
  const [fleet, instances] = [await store.fleet.readFleet(deadline()), await store.fleet.listInstances(deadline())];
  const order = planDeletion(instance, units, { ...(fleet === undefined ? {} : { spec: fleet.spec }), instances });
  if (order.kind === "carry-out" && !dryRun) {
    const declared = order.spec && fleet && { spec: order.spec, actor, revision: fleet.revision };
    await store.fleet.retireInstance(retirement(deps, instance, { actor, reason }), declared, deadline());
  }
  return viewOf(instance.name, order, { change: "retired", dryRun });
}

function retirement(
  { clock }: Pick<ApiDeps, "clock">,
  { id, name, pool, revision, attempt }: Instance,
  { actor, reason }: Pick<Order, "actor" | "reason">,
): InstanceChange {
  const text = `deleted by ${actor}: ${reason}`;
  const details = { name, pool, reason: text, actor };
  const decision = { at: clock.now(), subject: id, kind: "instance", verdict: "DRAINING", rule: "COMMAND", details } as const;
  return { id, revision, state: "DRAINING", reason: text, cause: undefined, attempt, decision };
}

function viewOf(
  instance: string,
  order: InstanceOrder,
  { change, dryRun }: { readonly change: "created" | "retired"; readonly dryRun: boolean },
): InstanceOrderView {
  if (order.kind === "refused") refuse(order.text);
  const { pool } = order;
  if (order.kind === "stands") return { instance, pool, change: "none", dryRun, min: null, text: order.text };
  const min = order.min === undefined || order.min.before === order.min.after ? null : { ...order.min };
  return { instance, pool, change, dryRun, min, text: `instance ${instance} ${dryRun ? "would be" : "is"} ${WORDS[change]}` };
}

function refuse(text: string): never {
  throw new RefusedError(text, { code: "api.instance" });
}
