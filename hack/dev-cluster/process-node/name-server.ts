import { createSocket, type Socket } from "node:dgram";
import type { Log } from "../../../src/telemetry/log.ts";
import { answerQuery, parseQuery } from "./dns-message.ts";
import { type ServiceName, serviceOf } from "./service-names.ts";

/** Above the ports that need a privilege; each namespace has an address of its own. */
export const nameServerPort = 10_053;

/** Answers for the Services as pods of one namespace see them: short names are of that namespace. */
export interface NameServer {
  close(): Promise<void>;
}

export interface NameServerOptions {
  readonly address: string;
  readonly namespace: string;
  readonly addressOf: (service: ServiceName) => string | undefined;
  readonly log: Log;
}

/**
 * Only programs in which the name server can be set are served by this. gRPC's clients can, and must: what they verify in a certificate
 * is the name they connect to.
 */
export function startNameServer(options: NameServerOptions): NameServer {
  const socket: Socket = createSocket("udp4");
  socket.on("error", (error) => options.log.error({ address: options.address, error: error.message }, "Serving names failed"));
  socket.on("message", (query, from) => {
    const question = parseQuery(query);
    const service = question && serviceOf(question.name, options.namespace);
    if (question === undefined) return;
    socket.send(answerQuery(query, question, service && options.addressOf(service)), from.port, from.address);
  });
  socket.bind({ address: options.address, port: nameServerPort, exclusive: true });
  return { close: () => new Promise((resolve) => socket.close(() => resolve())) };
}
