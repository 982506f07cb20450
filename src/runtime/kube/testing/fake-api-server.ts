import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Rng } from "../../../domain/rng.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { systemClock } from "../../clock.ts";
import type { KubeClient } from "../client.ts";
import { createKubeClient } from "../http.ts";
import type { KubeObject, ResourceType } from "../resource.ts";
import { StatusAnswer } from "./answers.ts";
import type { Faults } from "./faults.ts";
import { createFaultQueue } from "./faults.ts";
import type { Json } from "./json.ts";
import { createObjectStore, type StoredChange } from "./object-store.ts";
import type { Answer } from "./resource-api.ts";
import { createResourceApi } from "./resource-api.ts";
import { createWatchHub } from "./watch-hub.ts";

export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface FakeApiServerOptions {
  /** The kinds it knows; any if undefined. */
  readonly types?: readonly ResourceType[];
}

export interface FakeApiServer {
  readonly url: string;
  /** A client of this server with its own connections; closed with the server. `name` is the cluster's name, default `fake`. */
  client(name?: string): KubeClient;
  readonly faults: Faults;
  /** Creates objects as POST would, without the way over HTTP. */
  load(type: ResourceType, objects: readonly KubeObject[]): void;
  /** Calls `listener` with each change, in the order of all kinds together, before whoever asked for it has an answer. */
  onChange(listener: (change: StoredChange) => void): void;
  /** Requests so far, in order of arrival. */
  requests(): readonly SeenRequest[];
  /** Connections accepted so far, whether or not they are still open. */
  connections(): number;
  openWatches(): number;
  close(): Promise<void>;
}

/**
 * An API server in this process for arbitrary kinds of objects: create, get, list with pages, watch with bookmarks and selectors, server-side
 * apply, JSON and merge patches, delete with preconditions and finalizers, status subresources, generations. Its answers were compared with
 * those of kube-apiserver 1.35.
 *
 * It does not have: authentication, admission, schemas and defaults, `managedFields`, garbage collection and propagation policies, the
 * existence of namespaces, discovery, lists merged by key under server-side apply, subresources other than `status` and the tokens of
 * ServiceAccounts, which are no more than texts.
 */
export async function startFakeApiServer(options: FakeApiServerOptions = {}): Promise<FakeApiServer> {
  const seen: SeenRequest[] = [];
  const clients: KubeClient[] = [];
  const sockets = new Set<Socket>();
  const queue = createFaultQueue();
  const listeners: ((change: StoredChange) => void)[] = [];
  const store = createObjectStore((change) => {
    hub.publish(change);
    for (const listener of listeners) listener(change);
  });
  const hub = createWatchHub(store.revision);
  const api = createResourceApi({ store, hub, types: options.types });
  let accepted = 0;

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))));
  });
  server.keepAliveTimeout = 60_000;
  server.on("connection", (socket) => {
    accepted++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? "GET";
    const target = request.url ?? "/";
    const body = await readBody(request);
    seen.push({ method, url: target, headers: request.headers, body });
    const verdict = queue.next(method, target);
    if (verdict.kind === "break") return void response.destroy();
    if (verdict.kind === "fail") return sendFailure(response, verdict);
    if (verdict.kind === "hold") await verdict.released;
    const answer = api.answer({ method, url: new URL(target, url), contentType: request.headers["content-type"], body });
    if (verdict.kind === "loseReply") return void response.destroy();
    send(response, answer);
  }

  return {
    url,
    client(name = "fake") {
      const credentials = { server: url, token: async () => undefined };
      const client = createKubeClient({ cluster: name, credentials, clock: systemClock, rng: evenRng, metrics: noMetrics });
      clients.push(client);
      return client;
    },
    faults: {
      ...queue,
      endWatches: () => hub.endAll("end"),
      resetWatches: () => hub.endAll("reset"),
      silenceWatches: hub.silence,
      unsilenceWatches: hub.unsilence,
      compact: api.compact,
      expireWatches() {
        api.compact();
        hub.expireAll();
      },
      bookmark: hub.bookmarkAll,
    },
    load(type, objects) {
      for (const object of objects) store.create(type, object.metadata.namespace ?? "", { sent: object as unknown as Json, dryRun: false });
    },
    onChange: (listener) => void listeners.push(listener),
    requests: () => seen,
    connections: () => accepted,
    openWatches: hub.count,
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([new Promise((resolve) => server.close(resolve)), ...clients.map((client) => client.close())]);
    },
  };
}

/** Jitter plays no part in what a fake is for. */
const evenRng: Rng = { next: () => 0.5, fork: () => evenRng };

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function sendFailure(
  response: ServerResponse,
  fault: { readonly status: number; readonly reason: string | undefined; readonly retryAfterSeconds: number | undefined },
): void {
  const { status, reason, retryAfterSeconds } = fault;
  const answer = new StatusAnswer(status, { message: "injected fault", ...(reason === undefined ? {} : { reason }), details: {} });
  if (retryAfterSeconds !== undefined) response.setHeader("retry-after", String(retryAfterSeconds));
  send(response, { kind: "json", status, body: answer.body });
}

function send(response: ServerResponse, answer: Answer): void {
  switch (answer.kind) {
    case "json":
      response.writeHead(answer.status, { "content-type": "application/json" });
      return void response.end(JSON.stringify(answer.body));
    case "text":
      response.writeHead(answer.status, { "content-type": "text/plain" });
      return void response.end(answer.body);
    case "watch":
      response.writeHead(200, { "content-type": "application/json" });
      response.flushHeaders();
      return answer.attach({
        write: (line) => void response.write(line),
        end: () => void response.end(),
        reset: () => void response.socket?.resetAndDestroy(),
        onClose: (gone) => void response.on("close", gone),
      });
  }
}
