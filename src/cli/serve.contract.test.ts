import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { startTestServer, type TestServer } from "../store/testing/test-server.ts";

let server: TestServer;
let directory: string;
beforeAll(async () => {
  server = await startTestServer();
  directory = await mkdtemp(join(tmpdir(), "argosy-serve-"));
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

/** A cluster that is not there: a process serves without it, and says so where it matters. */
const KUBECONFIG = {
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
  users: [{ name: "u", user: { token: "token" } }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
};

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  await new Promise((done) => listener.close(done));
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function serveApi(): Promise<{ readonly url: string; stop(): Promise<number | null> }> {
  const [database, port] = [await server.createEmpty(), await freePort()];
  await writeFile(join(directory, "kubeconfig"), stringify(KUBECONFIG));
  const config = {
    roles: ["api"],
    stateDir: join(directory, "state"),
    apiCluster: { name: "api", kubeconfig: join(directory, "kubeconfig") },
    listen: { host: "127.0.0.1", port },
    encryption: { keys: [{ id: "first", env: "TEST_KEY" }] },
  };
  await writeFile(join(directory, "argosy.yaml"), stringify(config));
  const child = spawn(process.execPath, ["src/cli/argosy.ts", "serve", "--config", join(directory, "argosy.yaml")], {
    env: { ...process.env, DATABASE_URL: database.url, TEST_KEY: randomBytes(32).toString("base64") },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill("SIGTERM");
      const [status] = (await ended) as [number | null];
      return status;
    },
  };
}

describe("a process that serves the API alone", () => {
  it("is ready although nobody in it acts on changes, and ends cleanly", async () => {
    const api = await serveApi();
    try {
      await vi.waitFor(async () => expect((await fetch(`${api.url}/readyz`)).status).toBe(200), { timeout: 60_000, interval: 100 });
    } finally {
      expect(await api.stop()).toBe(0);
    }
  });
});
