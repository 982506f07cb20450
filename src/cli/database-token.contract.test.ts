import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Check } from "../api/port.ts";
import { idleDeps, type Served, serveApi } from "../api/testing/served.ts";
import { systemClock } from "../runtime/clock.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../store/testing/test-server.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { runCommand, type Seen } from "./testing/run-command.ts";
import { createToken, listTokens } from "./token.ts";

const WELL: Check = { name: "database", ok: true, detail: "PostgreSQL 18", remedy: "" };
const ILL: Check = { name: "database", ok: false, detail: "is away", remedy: "Start it" };

describe("a command that makes its token in the database", () => {
  let server: TestServer;
  let database: TestDatabase;
  let store: Awaited<ReturnType<typeof createPostgresStore>>;
  let served: Served;
  const answers: Check[][] = [];
  beforeAll(async () => {
    server = await startTestServer();
    database = await server.createEmpty();
    await createToken({ name: "ada", role: "viewer", database: database.url });
    store = await createPostgresStore({ url: database.url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 2 });
    served = await serveApi((memory) => ({
      ...idleDeps(memory),
      store: { ...memory, tokens: store.tokens },
      doctor: async () => answers.shift() ?? [WELL],
    }));
  });
  afterAll(async () => {
    await served.close();
    await store.close();
    await server.stop();
  });
  const run = (...args: readonly string[]): Promise<Seen> => runCommand(args, { ARGOSY_URL: served.url, DATABASE_URL: database.url });
  const names = async () => (await listTokens(database.url)).map(({ name }) => name);

  it("is answered, and leaves no token", async () => {
    expect(await run("doctor", "--database-token")).toMatchObject({ code: 0, out: expect.stringContaining("all 1 checks passed") });
    expect(await names()).toEqual(["ada"]);
  });

  it("leaves none where the server refuses or is away", async () => {
    const apply = await runCommand(["apply", "--file", "charts/argosy/Chart.yaml", "--database-token"], {
      ARGOSY_URL: "http://127.0.0.1:2",
      DATABASE_URL: database.url,
    });
    expect(apply).toMatchObject({ code: 1, err: expect.stringContaining("no answer from http://127.0.0.1:2") });
    expect(await names()).toEqual(["ada"]);
  });

  it("needs a database that is named", async () => {
    const { code, err } = await runCommand(["doctor", "--database-token"], { ARGOSY_URL: served.url, ARGOSY_STATE: "/nowhere" });
    expect(code).toBe(2);
    expect(err).toContain("no database is named");
  });

  it("is not taken with a plan", async () => {
    expect((await run("apply", "5f3c", "--database-token")).err).toContain("--database-token: says nothing about a plan");
  });

  it("waits until nothing is wrong, and says what is after the last try", async () => {
    answers.push([ILL]);
    expect(await run("doctor", "--database-token", "--wait", "1m")).toMatchObject({
      code: 0,
      out: expect.stringContaining("all 1 checks"),
    });
    answers.push([ILL], [ILL], [ILL]);
    expect(await run("doctor", "--database-token", "--wait", "1s")).toMatchObject({ code: 1, out: expect.stringContaining("is away") });
    answers.length = 0;
  });

  it("waits for a server that is away, and notes that once", async () => {
    const seen = await runCommand(["apply", "-f", "package.json", "--wait", "3s"], {
      ARGOSY_URL: "http://127.0.0.1:2",
      ARGOSY_TOKEN: "x".repeat(20),
    });
    expect(seen.code).toBe(1);
    expect(seen.err.match(/waiting: no answer/g)).toHaveLength(1);
  });
});
