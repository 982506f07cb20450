import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Gate } from "./http-gate.ts";
import { createMessageReader, type Message, type Said } from "./postgres-messages.ts";
import type { Turnstile } from "./turnstile.ts";

/** The statement by which a move enters a phase, which is its second value. Such commits are recognised by this name. */
export const ENTER = "enter_move_phase";
/** Ends each answer: the server is ready for the next message, outside of any transaction. */
const READY = Buffer.from("Z\0\0\0\u0005I", "latin1");

/** A gate in front of PostgreSQL. Each commit that takes a move into another phase passes the turnstile. */
export async function openPostgresGate(port: number, turnstile: Turnstile): Promise<Gate> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: "127.0.0.1", port, noDelay: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    lead({ near, far }, turnstile);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface Link {
  readonly near: Socket;
  readonly far: Socket;
}

function lead({ near, far }: Link, turnstile: Turnstile): void {
  const read = createMessageReader();
  let transaction: Said[] = [];
  /** Takes the server's answers while such a commit is under way: its sender may have to die before it gets them. */
  let listener: ((chunk: Buffer) => void) | undefined;
  far.on("data", (chunk: Buffer) => (listener === undefined ? near.write(chunk) : listener(chunk)));

  const committed = ({ raw }: Message): Promise<Buffer> =>
    new Promise((resolve) => {
      const heard: Buffer[] = [];
      listener = (chunk) => {
        heard.push(chunk);
        const answer = Buffer.concat(heard);
        if (answer.subarray(-READY.length).equals(READY)) resolve(answer);
      };
      far.write(raw);
    });
  const carry = async (message: Message): Promise<void> => {
    const { said } = message;
    if (said.kind !== "other") transaction.push(said);
    const isCommit = said.kind === "query" && said.text === "commit";
    const entering = isCommit ? transaction.find(isEntering) : undefined;
    if (said.kind === "query") transaction = [];
    if (entering === undefined) return void far.write(message.raw);
    const passage = { name: `database.move.${entering.values[1]}`, text: ENTER, port: near.remotePort ?? 0 };
    const answer = await turnstile.pass(passage, () => committed(message));
    listener = undefined;
    if (answer === undefined) near.destroy();
    else near.write(answer);
  };

  let arrival = Promise.resolve();
  near.on("data", (chunk: Buffer) => {
    for (const message of read(chunk)) arrival = arrival.then(() => carry(message));
  });
}

function isEntering(said: Said): said is Extract<Said, { kind: "bind" }> {
  return said.kind === "bind" && said.statement === ENTER;
}
