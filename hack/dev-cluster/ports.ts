import { randomInt } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { UnavailableError } from "../../src/domain/errors.ts";

/** Below the range of ports for outgoing connections, so that a kept port is seldom taken by one of them. */
const range = { from: 20_000, to: 32_000 };

/** A port of `host` that nobody listens on. Another process may take it before the caller does. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(range.from, range.to);
    if (await isFree(port, host)) return port;
  }
  throw new UnavailableError(`Finding a free port on ${host}`, { code: "dev.no-port" });
}

export async function isFree(port: number, host = "127.0.0.1"): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** The port of the last start, kept in `file`, unless another process has taken it: so addresses stay valid. */
export async function keptPort(file: string, host = "127.0.0.1"): Promise<number> {
  const kept = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  const port = kept > 0 && (await isFree(kept, host)) ? kept : await freePort(host);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, String(port));
  return port;
}
