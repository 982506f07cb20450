import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DefectError, UnavailableError } from "../domain/errors.ts";
import type { HealthRegistry } from "./health.ts";
import type { ReadableMetrics } from "./prom-metrics.ts";

export interface MonitoringListener {
  /**
   * Starts listening; resolves with the URL in use. Port 0 takes a free one. Throws `UnavailableError` naming the port when it is taken.
   */
  listen(at: { readonly host: string; readonly port: number }): Promise<string>;
  /** Ends every connection. */
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const JSON_TYPE = "application/json; charset=utf-8";
/** Whoever asks here sends one short request; one that is still sending it after this long is not one of them. In ms. */
const REQUEST_MS = 10_000;

/**
 * What probes and Prometheus ask of any process, whatever it does: `/livez` (its event loop answers), `/readyz` (whether it may be sent
 * work, and what it waits for, a sentence for each check; 503 while it waits) and `/metrics`. It needs no token, and nothing that the
 * process waits for.
 */
export function createMonitoringListener({
  readiness,
  metrics,
}: {
  readonly readiness: HealthRegistry;
  readonly metrics: Pick<ReadableMetrics, "text" | "contentType">;
}): MonitoringListener {
  const answers: Readonly<Record<string, () => Promise<Answer>>> = {
    "/livez": async () => ({ status: 200, contentType: JSON_TYPE, body: '{"ok":true}' }),
    async "/readyz"() {
      const report = readiness.report();
      return { status: report.ok ? 200 : 503, contentType: JSON_TYPE, body: JSON.stringify(report) };
    },
    "/metrics": async () => ({ status: 200, contentType: metrics.contentType, body: await metrics.text() }),
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, contentType, body } = await answerTo(request, answers).catch((error: unknown) => plain(500, String(error)));
    response.writeHead(status, { "content-type": contentType, "content-length": Buffer.byteLength(body), "cache-control": "no-store" });
    response.end(request.method === "HEAD" ? undefined : body);
  };
  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
    (request, response) => void answer(request, response),
  );
  return {
    listen: (at) => listen(server, at),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answerTo(
  { url = "/", method = "GET" }: IncomingMessage,
  answers: Readonly<Record<string, () => Promise<Answer>>>,
): Promise<Answer> {
  const path = url.split("?")[0] ?? "";
  const found = Object.hasOwn(answers, path) ? answers[path] : undefined;
  if (found === undefined) return plain(404, `nothing is served here but ${Object.keys(answers).join(", ")}`);
  if (method !== "GET" && method !== "HEAD") return plain(405, "ask with GET or HEAD");
  return found();
}

function plain(status: number, text: string): Answer {
  return { status, contentType: "text/plain; charset=utf-8", body: `${text}\n` };
}

function listen(server: Server, at: { readonly host: string; readonly port: number }): Promise<string> {
  const { host, port } = at;
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EADDRINUSE")
        return reject(new DefectError("listening for probes", { code: "monitoring.listen", cause, context: { ...at } }));
      reject(
        new UnavailableError(`listening on ${host}:${port}: the port is taken, choose another with monitoring.port`, {
          code: "monitoring.port-busy",
          cause,
          context: { ...at },
        }),
      );
    });
    server.listen({ host, port }, () => {
      const { port: taken } = server.address() as AddressInfo;
      resolve(`http://${host.includes(":") ? `[${host}]` : host}:${taken}`);
    });
  });
}
