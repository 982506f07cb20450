import { connect } from "node:net";
import { DATABASE_USER } from "./settings.ts";

/**
 * - `accepting`: a PostgreSQL server asks for a password, so it takes connections
 * - `starting`: it is one, but recovers, starts or stops (SQLSTATE 57P03)
 * - `silent`: nothing listens there, or something that does not answer like PostgreSQL
 */
export type ServerAnswer = "accepting" | "starting" | "silent";

const CANNOT_CONNECT_NOW = "57P03";
const ANSWER_WITHIN_MS = 2_000;

/** Asks the server on a loopback port whether it takes connections, as `pg_isready` does: without logging in. */
export function probe(port: number, signal: AbortSignal): Promise<ServerAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, signal });
    let received = Buffer.alloc(0);
    const finish = (answer: ServerAnswer): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ANSWER_WITHIN_MS, () => finish("silent"));
    socket.on("connect", () => socket.write(startupMessage()));
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      const answer = readAnswer(received);
      if (answer !== undefined) finish(answer);
    });
    socket.on("error", () => (signal.aborted ? reject(signal.reason) : finish("silent")));
    socket.on("close", () => finish("silent"));
  });
}

/** StartupMessage of protocol 3.0: its own length, version 196608, then name/value pairs ended by an empty name. */
export function startupMessage(): Buffer {
  const parameters = Buffer.from(`user\0${DATABASE_USER}\0database\0postgres\0\0`, "latin1");
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + parameters.length, 0);
  head.writeInt32BE(196_608, 4);
  return Buffer.concat([head, parameters]);
}

/** The verdict in the first message of a server: `R` asks for authentication, `E` is an error. `undefined` while incomplete. */
export function readAnswer(received: Buffer): ServerAnswer | undefined {
  if (received.length < 5) return undefined;
  const kind = String.fromCharCode(received.readUInt8(0));
  if (kind === "R") return "accepting";
  if (kind !== "E") return "silent";
  if (received.length < 1 + received.readInt32BE(1)) return undefined;
  const fields = received.subarray(5).toString("latin1").split("\0");
  const sqlState = fields.find((field) => field.startsWith("C"))?.slice(1);
  // Any other refusal (a missing database, too many connections) comes from a server that works.
  return sqlState === CANNOT_CONNECT_NOW ? "starting" : "accepting";
}
