import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { connect as tlsConnect } from "node:tls";

/** A client that reaches one API server through the filter, as Argo CD does: each connection is a tunnel that the filter ends. */
export interface Tunnel {
  open(
    sent: { readonly method?: string; readonly path: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string },
    signal?: AbortSignal,
  ): Promise<IncomingMessage>;
  /** The status and the whole body, as JSON where it is such. */
  call(sent: {
    readonly method?: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }): Promise<{ readonly status: number; readonly body: unknown }>;
  close(): void;
}

export function openTunnel({
  proxyPort,
  server,
  token,
}: {
  readonly proxyPort: () => number;
  readonly server: string;
  readonly token: string;
}): Tunnel {
  const { hostname, port } = new URL(server);
  const host = `${hostname}:${port || 443}`;
  const sockets = new Set<Socket>();
  const agent = new Agent({ keepAlive: false });
  agent.createConnection = (_options, callback) => {
    const connecting = httpRequest({ host: "127.0.0.1", port: proxyPort(), method: "CONNECT", path: host, agent: false });
    connecting.once("connect", (answer, socket) => {
      if (answer.statusCode !== 200) return void callback?.(new Error(`no tunnel: ${answer.statusCode}`), socket);
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      callback?.(null, tlsConnect({ socket, rejectUnauthorized: false, servername: "localhost" }));
    });
    connecting.once("error", (error) => callback?.(error, undefined as never));
    connecting.end();
    return undefined as never;
  };
  const open: Tunnel["open"] = async ({ method = "GET", path, headers, body }, signal) => {
    const sent = httpsRequest({
      ...{ host: hostname, port, path, method, agent },
      headers: { authorization: `Bearer ${token}`, accept: "application/json", ...headers },
      ...(signal === undefined ? {} : { signal }),
    });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    answer.on("error", () => {});
    return answer;
  };
  return {
    open,
    async call(sent) {
      const answer = await open(sent);
      const body = await text(answer);
      return { status: answer.statusCode ?? 0, body: answer.headers["content-type"]?.includes("json") === true ? JSON.parse(body) : body };
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
