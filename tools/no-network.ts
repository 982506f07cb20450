import { Socket as DatagramSocket } from "node:dgram";
import { Server, Socket } from "node:net";

const SENTENCE = "a core test reaches no network and starts no server: rename its file to x.contract.test.ts";

/** What was refused and nobody has asked for yet. */
const refused: string[] = [];

/**
 * Makes every attempt of this process to listen, connect or send throw one sentence that says what to do, and keeps it for takeRefused:
 * code that tries again after an error would otherwise only let its test wait. Pipes to child processes are none of these.
 */
export function refuseNetwork(): void {
  refuse(Server.prototype, "listen", "net.Server.listen");
  refuse(Socket.prototype, "connect", "net.Socket.connect");
  for (const name of ["bind", "connect", "send"]) refuse(DatagramSocket.prototype, name, `dgram.Socket.${name}`);
}

/** What was refused since it was last asked. */
export function takeRefused(): readonly string[] {
  return refused.splice(0);
}

function refuse(prototype: object, name: string, what: string): void {
  const value = (): never => {
    const sentence = `${what}: ${SENTENCE}`;
    refused.push(sentence);
    throw new Error(sentence);
  };
  Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
}
