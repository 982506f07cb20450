import type { FastifyInstance } from "fastify";
import type { Metrics } from "../telemetry/metrics.ts";

/** From a health check to the longest list a person waits for, in seconds. */
const BUCKETS_S = [0.005, 0.02, 0.1, 0.5, 2, 10, 30];

/**
 * Counts answers by route, method and status, so that the rate of errors can be watched. A path that is not served counts as
 * route `none`: a stranger trying paths cannot add label values.
 */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  const labels = ["route", "method", "status"];
  const answers = metrics.counter("argosy_api_requests_total", "Requests answered by the REST API, by status", labels);
  const seconds = metrics.histogram("argosy_api_request_seconds", "Time until the REST API had answered", BUCKETS_S, ["route", "method"]);
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "none";
    const { method } = request;
    answers.add(1, { route, method: route === "none" ? "any" : method, status: String(reply.statusCode) });
    if (route !== "none") seconds.observe(reply.elapsedTime / 1000, { route, method });
  });
}
