import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { canonicalJson } from "../../domain/hash.ts";
import { diffFleet } from "../fleet-diff.ts";
import type { ApiDeps } from "../port.ts";
import { problem, sendProblem } from "../problem.ts";

const field = z.object({ path: z.string(), before: z.string(), after: z.string() });
const change = z
  .object({
    path: z.string().describe("e.g. pools.standard"),
    change: z.enum(["added", "removed", "changed"]),
    fields: z.array(field).describe("what differs below it; empty for what was added or removed as a whole"),
  })
  .meta({ id: "FleetChange" });
const answer = z
  .object({
    revision: z.number().int().describe("of the fleet in force; 0 while none is declared"),
    changed: z.boolean(),
    dryRun: z.boolean(),
    pools: z.array(z.string()),
    changes: z.array(change).describe("what differs from what was declared before, sorted by path"),
  })
  .meta({ id: "AppliedFleet" });
export type AppliedFleet = z.infer<typeof answer>;

/** Writing what is declared. */
export function addFleetRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.put(
    "/v1/fleet",
    {
      schema: {
        operationId: "applyFleet",
        summary: "Declares the fleet; with dryRun=true only checks the document",
        security: [{ token: [] }],
        querystring: z.object({ dryRun: z.enum(["true", "false"]).default("false") }),
        body: z.unknown().describe("a Fleet document (kind: Fleet)"),
        response: { 200: answer },
      },
    },
    async (request, reply) => {
      const parsed = deps.parseFleet(request.body);
      if (!parsed.ok) {
        const detail = parsed.complaints.map((c) => `${c.path}: ${c.message}. ${c.remedy}`).join("\n");
        return sendProblem(
          reply,
          problem({ status: 422, code: "fleet.invalid", detail, complaints: parsed.complaints.map((c) => ({ ...c })) }),
        );
      }
      const signal = AbortSignal.timeout(30_000);
      const before = await deps.store.fleet.readFleet(signal);
      const dryRun = request.query.dryRun === "true";
      const changed = before === undefined || canonicalJson(before.spec) !== canonicalJson(parsed.spec);
      const changes = diffFleet(before?.spec, parsed.spec).map((entry) => ({ ...entry, fields: [...entry.fields] }));
      const revision = dryRun ? (before?.revision ?? 0) : await deps.store.fleet.applyFleet(parsed.spec, request.actor, signal);
      return { revision, changed, dryRun, pools: parsed.spec.pools.map((pool) => pool.name), changes };
    },
  );
}
