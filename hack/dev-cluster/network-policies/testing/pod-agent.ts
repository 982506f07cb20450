import { createSocket } from "node:dgram";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";

/**
 * A program that stands for a pod's containers in a network namespace: it answers on ports with its name and the address of who asks,
 * and tries connections. It takes one JSON object a line and answers each with one that has the same `id`.
 */
type Command =
  | { readonly id: number; readonly do: "listen"; readonly protocol: "TCP" | "UDP"; readonly port: number }
  | {
      readonly id: number;
      readonly do: "try";
      readonly protocol: "TCP" | "UDP";
      readonly host: string;
      readonly port: number;
      readonly withinMs: number;
    }
  /** Opens a connection that stays, for `say`. */
  | { readonly id: number; readonly do: "keep"; readonly host: string; readonly port: number; readonly withinMs: number }
  | { readonly id: number; readonly do: "say"; readonly withinMs: number };

const [name = ""] = process.argv.slice(2);
let kept: Socket | undefined;

createInterface({ input: process.stdin }).on("line", (line) => {
  const command = JSON.parse(line) as Command;
  carryOut(command).then(
    (answer) => process.stdout.write(`${JSON.stringify({ id: command.id, answer })}\n`),
    (error: unknown) => process.stdout.write(`${JSON.stringify({ id: command.id, error: String(error) })}\n`),
  );
});
process.stdin.on("end", () => process.exit(0));

function carryOut(command: Command): Promise<string | null> {
  switch (command.do) {
    case "listen":
      return command.protocol === "TCP" ? listenTcp(command.port) : listenUdp(command.port);
    case "try":
      return command.protocol === "TCP" ? tryTcp(command) : tryUdp(command);
    case "keep":
      kept = connect(command.port, command.host);
      return answerOf(kept, command.withinMs);
    case "say":
      if (kept === undefined) return Promise.reject(new Error("there is no connection"));
      return answerOf(kept, command.withinMs);
  }
}

function listenTcp(port: number): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", () => socket.write(`${name} hears ${socket.remoteAddress}\n`));
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(port, "::", () => resolve(""));
  });
}

function listenUdp(port: number): Promise<string> {
  const socket = createSocket("udp4");
  socket.on("message", (_message, from) => socket.send(`${name} hears ${from.address}\n`, from.port, from.address));
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.bind(port, () => resolve(""));
  });
}

async function tryTcp({ host, port, withinMs }: { readonly host: string; readonly port: number; readonly withinMs: number }) {
  const socket = connect(port, host);
  try {
    return await answerOf(socket, withinMs);
  } finally {
    socket.destroy();
  }
}

/** What the other side answers to one byte; null if it does not in time, or breaks the connection. */
function answerOf(socket: Socket, withinMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(null), withinMs);
    const end = (answer: string | null) => {
      clearTimeout(timer);
      socket.removeAllListeners("data");
      resolve(answer);
    };
    socket.on("data", (data) => end(data.toString("utf8").trim()));
    socket.on("error", () => end(null));
    socket.write("?");
  });
}

/** The same for datagrams, which are sent again until there is an answer. */
function tryUdp({
  host,
  port,
  withinMs,
}: {
  readonly host: string;
  readonly port: number;
  readonly withinMs: number;
}): Promise<string | null> {
  const socket = createSocket("udp4");
  return new Promise((resolve) => {
    const again = setInterval(() => socket.send("?", port, host), 100);
    const timer = setTimeout(() => end(null), withinMs);
    const end = (answer: string | null) => {
      clearInterval(again);
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    socket.on("message", (message) => end(message.toString("utf8").trim()));
    // An answer that the port is closed arrives as an error; the next datagram tries again.
    socket.on("error", () => undefined);
    socket.send("?", port, host);
  });
}
