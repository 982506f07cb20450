import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Upstream } from "./upstream.ts";

/** Headers that belong to one connection and not to the request. */
const OF_CONNECTION = new Set([
  ...[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
  ],
  "host",
]);

export function handedOn(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name, value]) => value !== undefined && !OF_CONNECTION.has(name)));
}

/** Hands a request on to the API server as it is, and the answer back. Bodies stream in both directions. */
export async function forward(upstream: Upstream, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = handedOn(request.headers);
  const hasBody = request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;
  const sent = upstream.open(request.method ?? "GET", request.url ?? "/", headers);
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve);
    sent.on("error", reject);
  });
  response.on("close", () => sent.destroy());
  if (hasBody) request.pipe(sent);
  else sent.end();
  await handBack(await answered, response);
}

/** Hands an answer back as it is. */
export async function handBack(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(answer.statusCode ?? 502, handedOn(answer.headers));
  await pipeline(answer, response);
}

/** A failure as API servers say it: clients tell by it what to do. */
export function refuse(
  response: ServerResponse,
  { code, reason, message }: { readonly code: number; readonly reason: string; readonly message: string },
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify(status));
}
