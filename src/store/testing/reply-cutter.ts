import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";

/** A way to a database on which answers can get lost after what they answer has happened. */
export interface ReplyCutter {
  /** The database's address by this way. */
  readonly url: string;
  /** Breaks the connection instead of passing on the next answer that ends a statement with this tag, e.g. `COMMIT`. */
  cutReplyTo(tag: string): void;
  /** How many answers got lost so far. */
  lost(): number;
  close(): Promise<void>;
}

/** `ReadyForQuery`, idle: the server says so only once the transaction has ended. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function startReplyCutter(databaseUrl: string): Promise<ReplyCutter> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let armed: string | undefined;
  let lost = 0;
  const server = createServer((near) => {
    const far = connect({ host: target.hostname, port: Number(target.port) });
    const end = (): void => [near, far].forEach((socket) => socket.destroy());
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", end).on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    near.on("data", (chunk) => far.write(chunk));
    far.on("data", (chunk: Buffer) => {
      if (armed === undefined || !chunk.includes(`${armed}\0`) || !chunk.includes(READY)) return void near.write(chunk);
      armed = undefined;
      lost += 1;
      end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(databaseUrl), { hostname: "127.0.0.1", port: String(port) }).href,
    cutReplyTo(tag) {
      armed = tag;
    },
    lost: () => lost,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
