import { createHash } from "node:crypto";
import { once } from "node:events";
import { createConnection, createServer } from "node:net";
import { path } from "./project.mjs";

/**
 * Runs `work` while no other process of this checkout runs its own. The lock is a socket in Linux's abstract namespace: the
 * kernel gives it back when the holder ends, however it ends, so there is no stale lock to recognise. Whoever finds it taken
 * connects and waits for the connection to close. Other systems have no such sockets and go without.
 */
export async function alone(work) {
  if (process.platform !== "linux") return work();
  const address = `\0argosy-${createHash("sha256").update(path(".")).digest("hex").slice(0, 32)}`;
  let lock = await take(address);
  for (let isReported = false; lock === undefined; lock = await take(address)) {
    if (!isReported) process.stderr.write("argosy: waiting for another command that is installing …\n");
    isReported = true;
    await untilReleased(address);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function take(address) {
  const waiting = new Set();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on("error", () => waiting.delete(socket));
  });
  server.listen(address);
  try {
    await once(server, "listening");
  } catch (error) {
    if (error.code === "EADDRINUSE") return undefined;
    throw error;
  }
  return {
    release() {
      server.close();
      for (const socket of waiting) socket.destroy();
    },
  };
}

async function untilReleased(address) {
  const socket = createConnection(address);
  // A refused connection means that the holder has just gone; `close` follows every error, which `once` of node:events would throw.
  socket.on("error", () => {});
  socket.resume();
  await new Promise((resolve) => socket.once("close", resolve));
}
