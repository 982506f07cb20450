import { createSocket, type Socket } from "node:dgram";
import type { Log } from "../../../src/telemetry/log.ts";
import { answerQuery, parseQuery } from "./dns-message.ts";
import { type ServiceName, serviceOf } from "./service-names.ts";

/** Above the privileged ports. Each namespace has its own address. */
export const nameServerPort = 10_053;

/** Answers for Services as pods of one namespace see them: short names are names of that namespace. */
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
 * Only for programs in which the name server can be configured. gRPC clients can, and have to use it: the name they
 * connect to is the one they check in the certificate.
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
