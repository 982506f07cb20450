import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { canonicalJson } from "../../domain/hash.ts";
import type { ApiDeps } from "../port.ts";
import { problem, sendProblem } from "../problem.ts";
import { problemView } from "../schema.ts";

const answer = z.object({ revision: z.number().int(), changed: z.boolean(), dryRun: z.boolean(), pools: z.array(z.string()) });

/** Writing what is declared. */
export function addFleetRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.put(
    "/v1/fleet",
    {
      schema: {
        summary: "Declares the fleet; with dryRun=true only checks the document",
        security: [{ token: [] }],
        querystring: z.object({ dryRun: z.stringbool().default(false) }),
        body: z.unknown().describe("a Fleet document (kind: Fleet)"),
        response: { 200: answer, 422: problemView },
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
      const { dryRun } = request.query;
      const changed = before === undefined || canonicalJson(before.spec) !== canonicalJson(parsed.spec);
      const revision = dryRun ? (before?.revision ?? 0) : await deps.store.fleet.applyFleet(parsed.spec, request.actor, signal);
      return { revision, changed, dryRun, pools: parsed.spec.pools.map((pool) => pool.name) };
    },
  );
}
