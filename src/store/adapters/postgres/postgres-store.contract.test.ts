import { afterAll, beforeAll } from "vitest";
import { systemClock } from "../../../runtime/clock.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { describeStore } from "../../testing/contract/suite.ts";
import { startTestServer, type TestDatabase, type TestServer } from "../../testing/test-server.ts";
import { createKeyRing } from "./credentials/envelope.ts";
import { createPostgresStore } from "./postgres-store.ts";

let server: TestServer;
let database: TestDatabase;
beforeAll(async () => {
  server = await startTestServer();
  database = await server.createMigrated();
});
afterAll(() => server.stop());

describeStore("the store on PostgreSQL", async () => {
  const keyRing = createKeyRing("first", new Map([["first", new Uint8Array(32).fill(7)]]));
  const store = await createPostgresStore({
    url: database.url,
    keyRing,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
    poolSize: 12,
  });
  return {
    store,
    async close() {
      await store.close();
      await server.clear(database.url);
    },
  };
});
