import { connect, createServer, type Server, type Socket } from "node:net";

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A TCP listener that connects to whatever `target` returns when a connection comes in. */
export interface Forwarder {
  /** False: the address was taken. */
  readonly ready: Promise<boolean>;
  close(): Promise<void>;
}

/** A connection for which there is no target, or whose target refuses it, is closed at once. */
export function startForwarder(listen: Endpoint, target: () => Endpoint | undefined): Forwarder {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (incoming) => {
    const to = target();
    if (to === undefined) {
      incoming.destroy();
      return;
    }
    const outgoing = connect({ ...to, allowHalfOpen: true, noDelay: true });
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  return { ready: listening(server, listen), close: () => closeAll(server, sockets) };
}

function listening(server: Server, at: Endpoint): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ ...at, exclusive: true }, () => resolve(true));
  });
}

function closeAll(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}
