import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { buffer } from "node:stream/consumers";

/** One API server, over kept-alive connections. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
  /** Opens a request; its body is the caller's to write and to end. Paths are put behind that of the server. */
  open(method: string, path: string, headers: OutgoingHttpHeaders): ClientRequest;
  /** Sends a request without a body, or with a small one, and resolves with the head of the answer. */
  send(sent: SentRequest, signal: AbortSignal): Promise<IncomingMessage>;
  close(): void;
}

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
}

/** `ca`: PEM; absent: the system's authorities. */
export function createUpstream({ server, ca }: { readonly server: string; readonly ca?: string | undefined }): Upstream {
  const url = new URL(server);
  const isTls = url.protocol === "https:";
  // Idle connections hold memory, and reading in bursts is the exception.
  const common = { keepAlive: true, maxFreeSockets: 4, timeout: 0 };
  const agent = isTls ? new HttpsAgent({ ...common, ...(ca === undefined ? {} : { ca }) }) : new HttpAgent(common);
  const port = Number(url.port) || (isTls ? 443 : 80);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const prefix = url.pathname.replace(/\/+$/, "");
  const open: Upstream["open"] = (method, path, headers) =>
    (isTls ? httpsRequest : httpRequest)({ host, port, agent, method, path: prefix + path, headers: { ...headers, host: url.host } });
  return {
    ...{ host, port, open },
    send: ({ method, path, headers, body }, signal) =>
      new Promise((resolve, reject) => {
        const sent = open(method, path, headers);
        const stop = () => sent.destroy(signal.reason as Error);
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop, { once: true });
        sent.on("close", () => signal.removeEventListener("abort", stop));
        sent.on("response", (answer) => {
          // Without a listener an answer that breaks off would end the process.
          answer.on("error", () => {});
          resolve(answer);
        });
        sent.on("error", reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** The whole of a small answer. */
export async function textOf(answer: IncomingMessage): Promise<string> {
  return (await buffer(answer)).toString("utf8");
}
