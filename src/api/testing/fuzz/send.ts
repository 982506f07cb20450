import { Agent, request } from "node:http";
import { connect } from "node:net";
import type { RawAnswer } from "./judge.ts";
import type { RawRequest } from "./requests.ts";

const TIMEOUT_MS = 60_000;

/** Sends requests as they are: what a URL parser would mend stays broken. */
export function createSender(url: string) {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  return {
    send: ({ method, target, headers, body }: RawRequest): Promise<RawAnswer> =>
      new Promise((resolve, reject) => {
        const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
        const lengths = headers["transfer-encoding"] === undefined ? length : {};
        const sent = request(
          { hostname, port, method, path: target, headers: { ...lengths, ...headers }, agent, timeout: TIMEOUT_MS },
          (answer) => {
            const chunks: Buffer[] = [];
            answer.on("data", (chunk: Buffer) => chunks.push(chunk));
            answer.on("error", reject);
            answer.on("end", () =>
              resolve({
                ...{ status: answer.statusCode ?? 0, contentType: answer.headers["content-type"] ?? "" },
                text: Buffer.concat(chunks).toString(),
              }),
            );
          },
        );
        sent.on("timeout", () => sent.destroy(new Error("no answer")));
        sent.on("error", reject);
        sent.end(headers["content-length"] === "0" ? undefined : body);
      }),
    /** Bytes that are no HTTP. Resolves with what came back until the server closed. */
    sendBytes: (bytes: string | Buffer): Promise<string> =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        const socket = connect(Number(port), hostname, () => socket.end(bytes));
        socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("no answer")));
        socket.on("data", (chunk: Buffer) => chunks.push(chunk));
        socket.on("error", (error: NodeJS.ErrnoException) =>
          error.code === "ECONNRESET" || error.code === "EPIPE" ? undefined : reject(error),
        );
        socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
      }),
    close: () => agent.destroy(),
  };
}
