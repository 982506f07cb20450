import {
  createServer as createHttpServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Duplex } from "node:stream";
import type { Log } from "../../../telemetry/log.ts";
import { takesJson, type WholeClusterRequest, wholeClusterRequest } from "../../whole-cluster-request.ts";
import { answerList } from "./answer-list.ts";
import { answerWatch, type WatchDeps } from "./answer-watch.ts";
import { forward, handedOn, refuse } from "./forward.ts";
import { createKinds } from "./kinds.ts";

export interface ProxyDeps extends WatchDeps {
  /** By what the proxy passes for the API server: nobody checks it, for nobody else is on the loopback of a pod. */
  readonly certificate: { readonly cert: string; readonly key: string };
  /** Resolves when it is known which namespaces are let in. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

export interface FilterProxy {
  /** Where it listens. */
  readonly port: number;
  close(): Promise<void>;
}

/** How long a request waits until it is known which namespaces are let in, in ms. */
const READY_MS = 30_000;
/** How long a connection may stay without a request, in ms: longer than clients keep theirs. */
const IDLE_MS = 120_000;

/**
 * The proxy that an instance's entry for the API cluster names. A client asks it for a tunnel to the API server, and the tunnel ends here: what goes through is
 * handed on as it is, but for lists and watches over the whole cluster of kinds that have a namespace.
 */
export async function startProxy(deps: ProxyDeps, listen: { readonly host: string; readonly port: number }): Promise<FilterProxy> {
  const ending = new AbortController();
  const answer = createAnswer(deps, ending.signal);
  // HTTP/1.1 alone: a stream of its own for each watch needs no flow control of ours.
  const inner = createHttpsServer(
    { ...deps.certificate, ALPNProtocols: ["http/1.1"], keepAliveTimeout: IDLE_MS },
    (request, response) => void answer(request, response),
  );
  inner.on("tlsClientError", (_error, socket) => socket.destroy());
  const outer = createHttpServer((_request, response) =>
    refuse(response, { code: 405, reason: "MethodNotAllowed", message: "this is a proxy for one API server: ask it for a tunnel" }),
  );
  const tunnels = new Set<Duplex>();
  outer.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    tunnels.add(socket);
    socket.on("close", () => tunnels.delete(socket));
    if (request.url !== `${bracketed(deps.upstream.host)}:${deps.upstream.port}`) {
      socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
      return;
    }
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) socket.unshift(head);
    inner.emit("connection", socket);
  });
  const port = await listenOn(outer, listen);
  return {
    port,
    async close() {
      ending.abort(new Error("the filter ends"));
      const closed = new Promise((resolve) => outer.close(resolve));
      outer.closeAllConnections();
      for (const socket of tunnels) socket.destroy();
      await closed;
    },
  };
}

/** Listens, and resolves with the port. */
export function listenOn(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(address !== null && typeof address === "object" ? address.port : port);
    });
  });
}

function createAnswer(deps: ProxyDeps, ending: AbortSignal) {
  const kinds = createKinds(deps.upstream);

  const answerWhole = async (request: WholeClusterRequest, from: IncomingMessage, response: ServerResponse, signal: AbortSignal) => {
    const headers = headersFor(from);
    const kind = await kinds.namespaced(request, headers, signal);
    if (kind === undefined) return forward(deps.upstream, from, response);
    if (!takesJson(from.headers.accept))
      return refuse(response, {
        code: 406,
        reason: "NotAcceptable",
        message: "lists and watches over the whole cluster are filtered as JSON alone",
      });
    await deps.ready(AbortSignal.any([signal, AbortSignal.timeout(READY_MS)]));
    if (request.isWatch) return answerWatch(deps, { request, headers, response, kind }, signal);
    return answerList(deps, { request, headers, response }, signal);
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.on("close", () => gone.abort(new Error("the client has gone")));
    const signal = AbortSignal.any([ending, gone.signal]);
    try {
      const whole = wholeClusterRequest(request.method ?? "", request.url ?? "");
      await (whole === undefined ? forward(deps.upstream, request, response) : answerWhole(whole, request, response, signal));
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ method: request.method, path: request.url?.split("?")[0], err: error }, "Giving up a request");
      refuse(response, { code: 503, reason: "ServiceUnavailable", message: "the filter in front of the API server could not answer" });
    }
  };
}

/** Who asks, without what would change the form of the answer. */
function headersFor({ headers }: IncomingMessage): OutgoingHttpHeaders {
  const { "accept-encoding": _encoding, accept: _accept, "content-length": _length, ...others } = handedOn(headers);
  return { ...others, accept: "application/json" };
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
