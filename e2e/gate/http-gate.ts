import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { KubernetesCluster } from "../../hack/dev-cluster/kubernetes.ts";
import type { Turnstile } from "./turnstile.ts";

/** A proxy in front of a server. */
export interface Gate {
  readonly port: number;
  close(): void;
}

interface Exchange {
  readonly asked: IncomingMessage;
  readonly reply: ServerResponse;
}

/** A gate in front of an API server, with the same certificate. Each request that changes something passes the turnstile. */
export async function openHttpGate(way: string, { port, ca, serving }: KubernetesCluster, turnstile: Turnstile): Promise<Gate> {
  const agent = new Agent({ keepAlive: true, ca });

  const carry = async ({ asked, reply }: Exchange, body: Buffer): Promise<IncomingMessage> => {
    const { method, url: path, headers } = asked;
    const sent = request({ host: "127.0.0.1", port, method, path, headers, agent });
    // A watch ends when its client goes.
    reply.once("close", () => void (reply.writableFinished || sent.destroy()));
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    return answer;
  };

  const serve = async (exchange: Exchange): Promise<void> => {
    const { asked, reply } = exchange;
    const body = await buffer(asked);
    if (isReading(asked)) return pipe(await carry(exchange, body), reply);
    const passage = { name: nameOf(way, asked), text: `${asked.url} ${body.toString()}`, port: asked.socket.remotePort ?? 0 };
    const answer = await turnstile.pass(passage, async () => {
      const came = await carry(exchange, body);
      return { head: came, body: await buffer(came) };
    });
    if (answer === undefined) asked.socket.destroy();
    else reply.writeHead(answer.head.statusCode ?? 0, withoutLength(answer.head)).end(answer.body);
  };

  const server = createServer({ cert: serving.cert, key: serving.key, keepAliveTimeout: 0, requestTimeout: 0 }, (asked, reply) => {
    serve({ asked, reply }).catch(() => asked.socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

function pipe(answer: IncomingMessage, reply: ServerResponse): void {
  reply.writeHead(answer.statusCode ?? 0, withoutLength(answer));
  // A watch may send nothing for a long time except its headers.
  reply.flushHeaders();
  answer.on("error", () => reply.destroy()).pipe(reply);
}

/** Framing belongs to a single connection. */
function withoutLength({ headers }: IncomingMessage): IncomingMessage["headers"] {
  const { "transfer-encoding": _pieces, connection: _connection, ...rest } = headers;
  return rest;
}

/** Reviews that are sent by POST, and dry runs, change nothing. */
function isReading({ method, url = "" }: IncomingMessage): boolean {
  return method === "GET" || url.includes("dryRun=") || url.includes("/authorization.k8s.io/");
}

function nameOf(way: string, { method, url = "" }: IncomingMessage): string {
  const [path = ""] = url.split("?");
  const segments = path.split("/").slice(path.startsWith("/apis/") ? 4 : 3);
  const [plural, subresource] =
    segments[0] === "namespaces" && segments.length > 2 ? [segments[2], segments[4]] : [segments[0], segments[2]];
  return `${way}.${method}.${plural}${subresource === undefined ? "" : `/${subresource}`}`;
}
