import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { ApiDeps } from "../port.ts";

const health = z.object({ ok: z.boolean(), checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })) });

const PROBES: readonly (string | undefined)[] = ["/healthz", "/readyz"];

/** Whether load balancers and probes ask at this route whether the process is there. */
export function isProbe(route: string | undefined): boolean {
  return PROBES.includes(route);
}

/** What needs no token: health, for what stands before the API, and the API's own description. */
export function addOpenRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/healthz",
    { schema: { operationId: "health", summary: "The process answers", response: { 200: z.object({ ok: z.literal(true) }) } } },
    async () => ({
      ok: true as const,
    }),
  );
  app.get(
    "/readyz",
    { schema: { operationId: "readiness", summary: "Database, own watches and queues", response: { 200: health, 503: health } } },
    async (_request, reply) => {
      const readiness = await deps.readiness();
      return reply.code(readiness.ok ? 200 : 503).send({ ok: readiness.ok, checks: readiness.checks.map((check) => ({ ...check })) });
    },
  );
  server.get("/openapi.json", { schema: { hide: true } }, async (_request, reply) => reply.send(server.swagger()));
  app.get(
    "/v1/version",
    { schema: { operationId: "version", summary: "Version of the server", response: { 200: z.object({ version: z.string() }) } } },
    async () => ({ version: deps.version }),
  );
}

/** Metrics of this process, for whoever has a token. Prometheus reads them where `monitoring` serves them, without one. */
export function addMetricsRoute(server: FastifyInstance, deps: ApiDeps): void {
  server.get("/metrics", { schema: { hide: true } }, async (_request, reply) => {
    const { contentType, text } = await deps.metricsText();
    return reply.type(contentType).send(text);
  });
}
