import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { GoneError } from "../../domain/errors.ts";
import type { FleetSpec } from "../../domain/fleet.ts";
import { diffFleet } from "../../domain/fleet-diff.ts";
import { canonicalJson } from "../../domain/hash.ts";
import type { ApiDeps, FleetComplaint } from "../port.ts";
import { problem, sendProblem } from "../problem.ts";
import { frozenComplaints } from "../version-views.ts";

const flag = z.enum(["true", "false"]).default("false");
const field = z.object({ path: z.string(), before: z.string(), after: z.string() });
const change = z
  .object({
    path: z.string().describe("e.g. pools.standard"),
    change: z.enum(["added", "removed", "changed"]),
    fields: z.array(field).describe("what differs below it; empty for what was added or removed as a whole"),
  })
  .meta({ id: "FleetChange" });
const instance = z
  .object({
    instance: z.string(),
    pool: z.string(),
    change: z
      .enum(["created", "retired", "waits", "recalled", "resized", "left"])
      .describe("waits: it gets no new units and is retired when it holds none; left: nobody asks for it, prune=true retires it"),
    units: z.number().int().describe("units it holds now"),
    reason: z.string(),
  })
  .meta({ id: "PlannedChange" });
const answer = z
  .object({
    revision: z.number().int().describe("of the fleet in force; 0 while none is declared"),
    changed: z.boolean(),
    dryRun: z.boolean(),
    pools: z.array(z.string()),
    changes: z.array(change).describe("what differs from what was declared before, sorted by path"),
    instances: z.array(instance).describe("what becomes of instances, by pool and name"),
  })
  .meta({ id: "AppliedFleet" });
export type AppliedFleet = z.infer<typeof answer>;

const declared = z
  .object({
    revision: z.number().int(),
    pruned: z.array(z.string()).describe("pools that are not declared any more and whose instances leave"),
    document: z.record(z.string(), z.unknown()).describe("the Fleet document as PUT takes it, every default written out"),
  })
  .meta({ id: "DeclaredFleet" });
export type DeclaredFleet = z.infer<typeof declared>;

/** Reading what is declared, which names Secrets and holds none. */
export function addFleetView(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/fleet",
    {
      schema: {
        operationId: "readFleet",
        summary: "The declared fleet, as a document that may be declared again",
        security: [{ token: [] }],
        response: { 200: declared },
      },
    },
    async () => {
      const stored = await deps.store.fleet.readFleet(AbortSignal.timeout(30_000));
      if (stored === undefined)
        throw new GoneError("no fleet is declared yet; `argosy apply -f fleet.yaml` declares one", { code: "api.no-fleet" });
      return { revision: stored.revision, pruned: [...stored.pruned], document: deps.renderFleet(stored.spec) };
    },
  );
}

/** Writing what is declared. */
export function addFleetRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.put(
    "/v1/fleet",
    {
      schema: {
        operationId: "applyFleet",
        summary: "Declares the fleet; with dryRun=true only checks the document and says what it would change",
        security: [{ token: [] }],
        querystring: z.object({
          dryRun: flag,
          prune: flag.describe("let the instances of pools go that the document leaves out"),
        }),
        body: z.unknown().describe("a Fleet document (kind: Fleet)"),
        response: { 200: answer },
      },
    },
    async (request, reply) => {
      const parsed = deps.parseFleet(request.body);
      if (!parsed.ok) return sendProblem(reply, refusal(parsed.complaints));
      const frozen = frozenComplaints(parsed.spec, await deps.store.rollouts.listFrozen(AbortSignal.timeout(30_000)));
      if (frozen.length > 0) return sendProblem(reply, refusal(frozen));
      const { dryRun, prune } = request.query;
      return declare(deps, { spec: parsed.spec, actor: request.actor, dryRun: dryRun === "true", prune: prune === "true" });
    },
  );
}

function refusal(complaints: readonly FleetComplaint[]) {
  const detail = complaints.map((c) => `${c.path}: ${c.message}. ${c.remedy}`).join("\n");
  return problem({ status: 422, code: "fleet.invalid", detail, complaints: complaints.map((c) => ({ ...c })) });
}

interface Declaration {
  readonly spec: FleetSpec;
  readonly actor: string;
  readonly dryRun: boolean;
  readonly prune: boolean;
}

/** Tells what becomes of instances from the rows as they are before the provisioner has acted on the new declaration. */
async function declare({ store, planFleet }: ApiDeps, { spec, actor, dryRun, prune }: Declaration): Promise<AppliedFleet> {
  const signal = AbortSignal.timeout(30_000);
  const before = await store.fleet.readFleet(signal);
  const [instances, units] = [await store.fleet.listInstances(signal), await store.fleet.countUnits(signal)];
  const isDeclared = (name: string): boolean => spec.pools.some((pool) => pool.name === name);
  const peopled = instances.filter(({ state }) => state !== "RETIRED").map(({ pool }) => pool);
  const pruned = [...new Set(prune ? peopled : before?.pruned)].filter((name) => !isDeclared(name)).sort();
  const plan = planFleet({ spec, pruned, instances, units });
  const changes = diffFleet(before?.spec, spec).map((entry) => ({ ...entry, fields: [...entry.fields] }));
  const isSame = before !== undefined && canonicalJson([before.spec, before.pruned]) === canonicalJson([spec, pruned]);
  if (!dryRun) await store.fleet.applyFleet(spec, actor, signal);
  if (!dryRun && prune) await store.fleet.prunePools(actor, signal);
  const revision = (dryRun ? before : await store.fleet.readFleet(signal))?.revision ?? 0;
  return {
    revision,
    changed: !isSame,
    dryRun,
    pools: spec.pools.map((pool) => pool.name),
    changes,
    instances: plan.map((one) => ({ ...one })),
  };
}
